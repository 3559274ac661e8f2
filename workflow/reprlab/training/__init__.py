"""The training engine: optimizer, schedule, ladder, exact resume."""
