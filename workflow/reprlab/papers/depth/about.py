"""Title, authors and captions of the paper in the report."""

from reprlab.papers.depth.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "DEPTH: Discourse Education through Pre-Training Hierarchically"
AUTHORS = "Zachary Elisha Bamberger, Ofek Glick, Chaim Baskin, Yonatan Belinkov"
URL = "https://arxiv.org/abs/2405.07788"
QUESTION = (
    "Does an encoder-decoder that also puts shuffled sentences back in order learn faster, and more about discourse, "
    "than T5's span corruption alone?"
)
ANSWERS = (
    Answer(
        "Is a model trained with sentence order better on GLUE than T5, after as many updates from scratch?",
        "D1",
        "yes, better on GLUE",
        "no, not better on GLUE",
    ),
    Answer(
        "Is reconstruction as good when sentence order is learned beside it?",
        "L8b",
        "yes, reconstruction is better",
        "no, reconstruction is worse",
    ),
)
# Texts, which are not rows of numbers, have a stage of their own.
_SAMPLE = {"error_sample": "Predictions for annotation by hand; the category is left empty (Tables 3 and 4)."}
TABLES = RESULTS.captions(RESULTS.tables) | _SAMPLE
FIGURES = RESULTS.captions(RESULTS.figures)
