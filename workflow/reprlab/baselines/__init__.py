"""What needs no model, by kind of answer: declared once in `declared`, fitted on training data alone."""
