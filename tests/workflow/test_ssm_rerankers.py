"""ssm-rerankers at nano, one reranker: from paragraphs to its table, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.config.papers import NEIGHBOURS

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
    "neighbours.read_twice.orders=[twice]": {},
}  # fmt: skip
# What they rerun in the table of orders: on spans, on questions, and the scores of each order.
ORDERED = {
    "neighbours.read_twice.orders=[twice]": {"tabulate_paper": 1},
    "neighbours.read_twice.models=[]": {"tabulate_paper": 1},
    "training.dropout=0.2": {"train_reranker": 8, "rerank_passages": 4, "tabulate_paper": 1},
}  # fmt: skip


def test_the_table_has_first_stages_random_order_and_the_reranker(made):
    found = read_tsv(made.nano / TABLE)
    assert set(found["model"]) == {"bm25", "minilm_l6", "random order", "mamba2_nano"}
    assert found["ndcg_at_10"].between(0, 100).all() and set(found["scale"]) == {"nano"}
    assert found.set_index("model").loc["mamba2_nano", "steps"] > 0


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", TABLE) == EDITS[edit]


def test_orders_stand_beside_the_paper_s_in_the_table_of_neighbours(made):
    found = read_tsv(made.nano / NEIGHBOURS).query("paper == @SLUG").set_index("claim")
    assert [*found.index] == ["M11", "M12", "M13", "M14"]
    assert found.loc["M14", "measure"].endswith("model opt_nano"), "lists"
    found = found.drop("M14")
    assert found["measure"].str.endswith("model mamba2_nano").all()
    plain = read_tsv(made.nano / TABLE).set_index("model").loc["mamba2_nano", "mrr_at_10"]
    assert found["method_value"].tolist() == pytest.approx([plain] * 3, rel=1e-4)
    assert found["neighbour_value"].between(0, 100).all() and found["seeds"].eq(1).all()
    assert found["method_cpu_seconds"].gt(0).all() and found["neighbour_cpu_seconds"].gt(0).all()
    assert found["verdict"].isna().all() and set(found["scale"]) == {"nano"}


@pytest.mark.parametrize("edit", ORDERED)
def test_an_edit_of_orders_reruns_its_own_rows_alone(edit):
    table = "results/ssm-rerankers/orders.tsv"
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", table) == ORDERED[edit]
