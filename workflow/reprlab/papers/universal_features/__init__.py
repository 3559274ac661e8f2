"""Tracking universal features through fine-tuning and model merging (Nielsen Horn and Elliott 2025)."""
