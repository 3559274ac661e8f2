"""Building, loading and counting models."""
