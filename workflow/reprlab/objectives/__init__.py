"""Training objectives, one module each, loaded by name."""
