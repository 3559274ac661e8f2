"""Retrieval: texts as vectors, exact search, and what was found against what should have been."""
