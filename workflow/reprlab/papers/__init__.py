"""What belongs to one paper alone: plan, tables, audit, claims, figures."""
