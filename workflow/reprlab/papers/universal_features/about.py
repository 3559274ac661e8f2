"""What the report says about the paper: title, and what its tables and figures show."""

from reprlab.papers.universal_features.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Tracking Universal Features Through Fine-Tuning and Model Merging"
AUTHORS = "Niels Nielsen Horn, Desmond Elliott"
URL = "https://aclanthology.org/2025.repl4nlp-1.2/"
QUESTION = "Which features of a small language model survive fine-tuning, and which the merging of two children?"
ANSWERS = (
    Answer(
        "Do more features persist into a child than its text alone explains?",
        "F8",
        "yes, the base is seen",
        "no, no more than chance",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
