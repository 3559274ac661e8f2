"""DEPTH (Bamberger et al., RepL4NLP 2025)."""
