"""State-space rerankers (slug `ssm-rerankers`)."""
