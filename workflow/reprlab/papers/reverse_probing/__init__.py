"""Reverse probing: which files make its tables, and what it claims."""
