"""Amuro & Char: results of fine-tuning intermediate checkpoints."""
