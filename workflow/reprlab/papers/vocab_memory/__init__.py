"""Vocabulary-level memory efficiency, PEMA (Williams and Aletras, RepL4NLP 2025)."""
