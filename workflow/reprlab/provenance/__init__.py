"""What made a result: code digests and records."""
