"""Sentence splitting, tokenizers and token storage."""
