"""Settings of each paper, with the published values as defaults."""
