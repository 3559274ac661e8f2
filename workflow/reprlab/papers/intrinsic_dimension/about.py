"""Title, authors and captions of the paper in the report."""

from reprlab.papers.intrinsic_dimension.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "A Comparative Study of Learning Paradigms in Large Language Models via Intrinsic Dimension"
AUTHORS = "Saahith Janapati, Yangfeng Ji"
URL = "https://aclanthology.org/2025.repl4nlp-1.5/"
QUESTION = "Do hidden states of in-context learning fill more dimensions than those of fine-tuning?"
ANSWERS = (
    Answer(
        "Do five demonstrations raise the intrinsic dimension, more than they do in a drawn model?",
        "I4",
        "yes, demonstrations raise it",
        "no, not more than when drawn",
    ),
    Answer(
        "Does fine-tuning lower the intrinsic dimension, so that demonstrations lead by more than they do without it?",
        "I8",
        "yes, fine-tuning lowers it",
        "no, fine-tuning raises it",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
