"""What the report says about the paper: title, and what its tables and figures show."""

from reprlab.papers.universal_features.results import RESULTS

TITLE = "Tracking Universal Features Through Fine-Tuning and Model Merging"
AUTHORS = "Niels Nielsen Horn, Desmond Elliott"
URL = "https://aclanthology.org/2025.repl4nlp-1.2/"
QUESTION = "Which features of a small language model survive fine-tuning, and which the merging of two children?"
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
