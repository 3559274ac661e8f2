"""Title, authors and captions of the paper in the report."""

from reprlab.papers.domain_adaptive_masking.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Choose Your Words Wisely: Domain-adaptive Masking Makes Language Models Learn Faster"
AUTHORS = "Vanshpreet S. Kohli, Aaron Monis, Radhika Mamidi"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "Does a model learn a domain faster if only the domain's own concepts are masked, each as a whole?"
ANSWERS = (
    Answer(
        "Does masking concepts teach them faster than masking random tokens, at equal compute?",
        "D4",
        "yes, concepts are learned faster",
        "no, random masking is faster",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
