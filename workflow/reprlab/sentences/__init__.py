"""Sentence encoders from language models: pooling, early exit, soft prompts, contrastive training, evaluation."""
