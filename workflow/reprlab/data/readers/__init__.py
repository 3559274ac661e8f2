"""One reader per source format, loaded by name."""
