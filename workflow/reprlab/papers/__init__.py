"""Parts that belong to one paper alone: plan, tables, audit, claims, figures."""
