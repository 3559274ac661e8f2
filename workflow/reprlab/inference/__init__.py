"""Generation and scoring."""
