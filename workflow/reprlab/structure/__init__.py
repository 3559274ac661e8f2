"""Structure tasks as text: what a sequence-to-sequence model reads and writes, and how it is scored."""
