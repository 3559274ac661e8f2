"""What a job of each stage costs, read off its settings."""
