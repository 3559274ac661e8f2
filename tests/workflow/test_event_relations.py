"""event-relations at nano: from nothing to the tables that stand on one retriever, and what an edit reruns."""

import csv

import pytest
from reprlab.events.documents import load_events

from tests.nano import PARTS
from tests.plans import rerun_counts

SLUG = "event-relations"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
# Three of RoBERTa and two of T5, which has no other k.
CLASSIFIED = {"train_pair_classifier": 5, "classify_pairs": 5}
# Edit: rules before the tables with the number of their jobs.
EDITS = {
    "negatives of the retriever": (
        "retriever_training.negatives=3",
        {"train_retriever": 1, "rank_partners": 1, **CLASSIFIED, "time_pairs": 1},
    ),
    "another k retrieves nothing anew": ("k=3", {"train_pair_classifier": 3, "classify_pairs": 3, "time_pairs": 1}),
}


def rows(path):
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def test_tables_have_all_conditions_and_name_their_data(made):
    results = made.nano / "results/event-relations"
    found = rows(results / "table4.tsv")
    related = {
        (row["classifier"], row["retriever"], row["k"]): row
        for row in found
        if row["subset"] == "related" and row["classifier"]
    }
    both = {(name, retriever, "5") for name in ("roberta", "t5") for retriever in ("none", "sbert_ft")}
    assert set(related) == both | {("roberta", "sbert_ft", "3")} and all(row["f1"] for row in related.values())
    assert all(row["scale"] == "nano" and "documents ours" in row["data_f1"] for row in related.values())
    # Regime 2 names its denominators, so that no pair of numbers is compared by mistake.
    assert {row["subset"] for row in found} == {"related", "all pairs", "retrieved or related"}


def test_fewer_partners_leave_fewer_pairs_to_time(made):
    found = {(row["events"], row["condition"]): row for row in rows(made.nano / "results/event-relations/seconds.tsv")}
    pairs = [int(found["18", name]["pairs"]) for name in ("k = 3", "k = 5", "all pairs")]
    assert pairs == sorted(set(pairs)) and pairs[-1] == 18 * 17 / 2
    assert all(float(row[name]) > 0 for row in found.values() for name in ("seconds", "apart_seconds", "pair_seconds"))


def test_a_tenth_of_the_pairs_of_the_assembled_documents_are_related(made):
    """Specification, section 6: 8 to 12 %, in each split."""
    documents, _ = load_events(made.nano / "results/shared/tasks/wordnet_events/examples.parquet")
    for split in ("train", "validation", "test"):
        found = [document for document in documents if document.split == split]
        related = sum(int(document.related.sum()) for document in found) / 2
        assert 0.08 <= related / sum(len(document.pairs(False)) for document in found) <= 0.12


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(name):
    edit, expected = EDITS[name]
    planned = rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", *PART.targets)
    tables = {"tabulate_paper", "gather_results"}
    assert {rule: count for rule, count in planned.items() if rule not in tables} == expected
