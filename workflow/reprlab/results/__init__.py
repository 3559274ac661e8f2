"""One frame of results for each paper, and the records that make tables, figures, claims and comparisons of it."""
