"""What the engine shows while jobs run."""
