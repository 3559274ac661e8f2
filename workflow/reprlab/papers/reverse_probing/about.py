"""What the report says about the paper: title, and what its tables and figures show."""

from reprlab.papers.reverse_probing.results import RESULTS

TITLE = "Reverse Probing: Evaluating Knowledge Transfer via Finetuned Task Embeddings for Coreference Resolution"
AUTHORS = (
    "Tatiana Anikina, Arne Binder, David Harbecke, Stalin Varanasi, Leonhard Hennig, Simon Ostermann, "
    "Sebastian Möller, Josef van Genabith"
)
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "Which simpler tasks leave in an encoder what coreference needs, if the encoder is frozen?"
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
