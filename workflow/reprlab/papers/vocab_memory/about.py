"""Title, authors and captions of the paper in the report."""

from reprlab.papers.vocab_memory.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Vocabulary-level Memory Efficiency for Language Model Fine-tuning"
AUTHORS = "Miles Williams, Nikolaos Aletras"
URL = "https://aclanthology.org/2025.repl4nlp-1.14/"
QUESTION = (
    "How much of the embedding matrix does a fine-tuning data set use, and what is saved by training with those rows "
    "alone (PEMA)?"
)
ANSWERS = (
    Answer(
        "Do scores stay as they are when the rows of unused words are left out?",
        "9",
        "yes, scores stay the same",
        "no, scores change",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
