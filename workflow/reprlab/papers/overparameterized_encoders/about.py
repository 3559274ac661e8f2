"""Title, authors and captions of the paper in the report."""

from reprlab.papers.overparameterized_encoders.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Large Language Models Are Overparameterized Text Encoders"
AUTHORS = "Thennal D K, Tim Fischer, Chris Biemann"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "How many of a decoder's last layers can go before it is trained as a sentence encoder?"
ANSWERS = (
    Answer(
        "Can a fifth to a third of the layers go at little cost?",
        "O1",
        "yes, at little cost",
        "no, the cost is high",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
