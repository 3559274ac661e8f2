"""Coreference end to end: documents, spans, antecedents, training, decoding and scores."""
