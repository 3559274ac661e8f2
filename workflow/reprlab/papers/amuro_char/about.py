"""Title, authors and captions of the paper in the report."""

from reprlab.papers.amuro_char.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Amuro & Char: Analyzing the Relationship between Pre-Training and Fine-Tuning of Large Language Models"
AUTHORS = "Kaiser Sun, Mark Dredze"
URL = "https://aclanthology.org/2025.repl4nlp-1.11/"
QUESTION = (
    "What does fine-tuning add to a model at each point of its pre-training, what does it make the model forget, and "
    "does longer pre-training show after fine-tuning where it does not show before?"
)
ANSWERS = (
    Answer(
        "Does pre-training improve a model in ways that only fine-tuning shows?",
        "A13",
        "yes, later checkpoints gain more",
        "no, later checkpoints gain less",
    ),
    Answer(
        "Does fine-tuning help on its own task?",
        "A1",
        "yes, above the base model",
        "no, it does not help",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables) | {"gpu_hours": "Hours of this run beside those of Table 4."}
FIGURES = RESULTS.captions(RESULTS.figures)
