"""ssm-rerankers at nano, one reranker: from paragraphs to its table, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.nano import PARTS
from tests.plans import rerun_counts

SLUG = "ssm-rerankers"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLE = "results/ssm-rerankers/table2.tsv"
# Trained twice: on spans of the passages, and on their questions.
TWICE = {"train_reranker": 2, "rerank_passages": 1, "tabulate_paper": 1}
EDITS = {
    "training.dropout=0.2": TWICE,
    "warm_start.learning_rate=0.001": {"pretrain_lm": 1, **TWICE},
    "warm_start.spans.short.words=9": {"build_span_queries": 1, **TWICE},
    "passages.b=0.5": {"retrieve_passages": 1, "train_reranker": 1, "rerank_passages": 1, "tabulate_paper": 1},
    "retriever.max_length=24": {"retrieve_passages": 1, "tabulate_paper": 1},
    "passages.recall_at=10": {
        "retrieve_passages": 2, "train_reranker": 1, "rerank_passages": 1, "tabulate_paper": 1,
    },
    "speed.batch=4": {},
}  # fmt: skip


def test_the_table_has_first_stages_random_order_and_the_reranker(made):
    found = read_tsv(made.nano / TABLE)
    assert set(found["model"]) == {"bm25", "minilm_l6", "random order", "mamba2_nano"}
    assert found["ndcg_at_10"].between(0, 100).all() and set(found["scale"]) == {"nano"}
    assert found.set_index("model").loc["mamba2_nano", "steps"] > 0


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", TABLE) == EDITS[edit]
