"""Title, authors and captions of the paper in the report."""

from reprlab.papers.intrinsic_dimension.results import RESULTS

TITLE = "A Comparative Study of Learning Paradigms in Large Language Models via Intrinsic Dimension"
AUTHORS = "Saahith Janapati, Yangfeng Ji"
URL = "https://aclanthology.org/2025.repl4nlp-1.5/"
QUESTION = "Do hidden states of in-context learning fill more dimensions than those of fine-tuning?"
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
