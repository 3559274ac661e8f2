"""Tables, comparisons, audits, claims, figures and the report page."""
