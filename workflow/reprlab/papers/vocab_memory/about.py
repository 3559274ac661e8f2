"""Title, authors and captions of the paper in the report."""

from reprlab.papers.vocab_memory.results import RESULTS

TITLE = "Vocabulary-level Memory Efficiency for Language Model Fine-tuning"
AUTHORS = "Miles Williams, Nikolaos Aletras"
URL = "https://aclanthology.org/2025.repl4nlp-1.14/"
QUESTION = (
    "How much of the embedding matrix does a fine-tuning data set use, and what is saved by training with those rows "
    "alone (PEMA)?"
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
