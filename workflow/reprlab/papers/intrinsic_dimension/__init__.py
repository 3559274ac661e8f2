"""Janapati and Ji: A Comparative Study of Learning Paradigms in Large Language Models via Intrinsic Dimension."""
