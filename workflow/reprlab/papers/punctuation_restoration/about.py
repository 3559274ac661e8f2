"""Title, authors and captions of the paper in the report."""

from reprlab.papers.punctuation_restoration.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Punctuation Restoration Improves Structure Understanding without Supervision"
AUTHORS = "Junghyun Min, Minho Lee, Woochul Lee, Yeonsoo Lee"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "Does a model that learns to restore punctuation understand the structure of sentences better?"
ANSWERS = (
    Answer(
        "Does restoring punctuation help with sentence boundaries more than writing the same text back?",
        "P9",
        "yes, it is more than copying",
        "no, copying helps more",
    ),
    Answer(
        "Does restoring punctuation help structure tasks more than as much other training?",
        "P5",
        "yes, more than span corruption",
        "no, span corruption helps more",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
