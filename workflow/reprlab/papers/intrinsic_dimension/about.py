"""Title, authors and captions of the paper in the report."""

from reprlab.papers.intrinsic_dimension.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "A Comparative Study of Learning Paradigms in Large Language Models via Intrinsic Dimension"
AUTHORS = "Saahith Janapati, Yangfeng Ji"
URL = "https://aclanthology.org/2025.repl4nlp-1.5/"
QUESTION = "Do hidden states of in-context learning fill more dimensions than those of fine-tuning?"
ANSWERS = (
    Answer(
        "Do five demonstrations raise the intrinsic dimension above that of a fine-tuned model?",
        "I8",
        "yes, demonstrations raise it more",
        "no, fine-tuning raises it more",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
