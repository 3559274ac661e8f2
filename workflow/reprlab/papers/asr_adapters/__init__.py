"""Adapters in speech encoders: which files make its tables, and what it claims."""
