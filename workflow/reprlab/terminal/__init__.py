"""The display of the engine while jobs run."""
