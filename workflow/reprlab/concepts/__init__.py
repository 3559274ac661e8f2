"""Concepts of a knowledge graph: where they occur in text, and which of them make a curriculum."""
