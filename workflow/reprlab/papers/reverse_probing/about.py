"""What the report says about the paper: title, and what its tables and figures show."""

from reprlab.papers.reverse_probing.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Reverse Probing: Evaluating Knowledge Transfer via Finetuned Task Embeddings for Coreference Resolution"
AUTHORS = (
    "Tatiana Anikina, Arne Binder, David Harbecke, Stalin Varanasi, Leonhard Hennig, Simon Ostermann, "
    "Sebastian Möller, Josef van Genabith"
)
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "Which simpler tasks leave in an encoder what coreference needs, if the encoder is frozen?"
ANSWERS = (
    Answer(
        "Does paraphrase serve coreference better than relations do?",
        "R2",
        "yes, paraphrase serves it better",
        "no, relations serve it better",
    ),
    Answer(
        "Does the frozen coreference encoder serve better than its word embeddings alone?",
        "R17",
        "yes, better than words alone",
        "no, words alone serve as well",
    ),
    Answer(
        "Is the encoder of coreference itself above every other source?",
        "R1",
        "yes, coreference itself is best",
        "no, another source is better",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
