"""Domain-adaptive masking (slug `domain-adaptive-masking`)."""
