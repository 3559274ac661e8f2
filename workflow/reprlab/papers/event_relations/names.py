"""Names that plans and results of event relations share."""

MATCHED = "sbert_ft"
"""The retriever of the starred rows (Tables 1 and 2), whose numbers of negatives conditions without one are given."""
