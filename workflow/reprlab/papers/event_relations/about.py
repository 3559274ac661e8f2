"""Title, authors and captions of the paper in the report."""

from reprlab.papers.event_relations.results import RESULTS

TITLE = "Efficient Document-level Event Relation Extraction"
AUTHORS = "Ruochen Li, Zimu Wang, Xinya Du"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = (
    "Does retrieving a few likely partners for each event save most of the pairs, and help to name their relation?"
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
