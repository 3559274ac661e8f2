"""Title, authors and captions of the paper in the report."""

from reprlab.papers.event_relations.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Efficient Document-level Event Relation Extraction"
AUTHORS = "Ruochen Li, Zimu Wang, Xinya Du"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = (
    "Does retrieving a few likely partners for each event save most of the pairs, and help to name their relation?"
)
ANSWERS = (
    Answer(
        "Does retrieving likely partners improve the classification of event relations?",
        "E7",
        "yes, F1 is higher",
        "no, F1 is lower",
    ),
    Answer(
        "Do retrieved negatives train a classifier better than random ones?",
        "E8",
        "yes, hard negatives train better",
        "no, random ones train better",
    ),
    Answer(
        "Do the retrieved candidates hold related events more often than all pairs do?",
        "E5",
        "yes, candidates are related",
        "no, no more than pairs",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
