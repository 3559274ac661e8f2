"""Features of language models: sparse autoencoders, what fires them, and which of them two models share."""
