"""Features of language models: sparse autoencoders, what their features fire on, and which features two models share."""
