"""Title, authors and captions of the paper in the report."""

from reprlab.papers.ssm_rerankers.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "State Space Models are Strong Text Rerankers"
AUTHORS = "Jinghua Yan, Zhichao Xu, Ashim Gupta, Vivek Srikumar"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "Do Mamba models rerank text as well as transformers of their size, and as fast?"
ANSWERS = (
    Answer(
        "Does Mamba rerank as well as transformers of its size?",
        "M3",
        "yes, within two points",
        "no, it is worse",
    ),
    Answer(
        "Does a trained reranker order better than chance?",
        "M1",
        "yes, better than chance",
        "no, not above chance",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
