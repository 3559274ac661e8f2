"""Soft prompts as sentence encoders (slug `prompt-tuning-encoders`)."""
