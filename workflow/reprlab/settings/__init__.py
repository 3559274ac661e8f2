"""Settings as groups of typed values, the YAML that holds them, and errors that name key and place."""
