"""Punctuation restoration (slug `punctuation-restoration`)."""
