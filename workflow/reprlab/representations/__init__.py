"""Hidden states of language models for prompts: prompts, label tokens, collection, files."""
