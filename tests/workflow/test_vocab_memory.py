"""vocab-memory at nano: from nothing to its tables, the same scores with and without PEMA, and what an edit reruns."""

import csv

import pytest

from tests.checkouts import copy_project

TABLES = {"gather_results", "tabulate_paper", "compare_published", "test_claims", "plot_figure", "vocab_memory"}
TRAINING = {"finetune_model", "measure_finetuning", "estimate_cost"}
EDITS = {
    "nothing": ("papers.vocab-memory.finetuning.optimizer.weight_decay=0.0", set()),
    "weight decay": ("papers.vocab-memory.finetuning.optimizer.weight_decay=0.01", TRAINING | TABLES),
    "splits that keep their rows": ("papers.vocab-memory.finetuning.partial_splits=[train]", TRAINING | TABLES),
    "steps of the timed runs": (
        "papers.vocab-memory.runtime_table.steps=3",
        {"measure_finetuning", "estimate_cost"} | TABLES,
    ),
    "length that counts": ("papers.vocab-memory.counting.max_length=64", {"count_tokens", "unite_counts"} | TABLES),
    "the union beside the paper's numbers": (
        "papers.vocab-memory.counting.compared=[train]",
        {"unite_counts"} | TABLES,
    ),
}


def rows(path):
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A fresh copy in which the paper was made from nothing but downloads."""
    checkout = copy_project(tmp_path_factory.mktemp("vocab_memory") / "project")
    checkout.run("--cores", "2", "--config", "scale=nano", "--", "vocab_memory", timeout=1500)
    return checkout


def test_scores_do_not_differ_and_memory_does(made):
    results = made.nano / "results" / "vocab-memory"
    scores = [row for row in rows(results / "table10_glue.tsv") if row["pema"]]
    assert [row["pema"] for row in scores] == ["no", "yes"]
    assert scores[0]["cola"] == scores[1]["cola"] != ""
    (row,) = rows(results / "table9_runtime.tsv")
    saved = 2 * (int(row["vocabulary"]) - int(row["used"])) * int(row["width"])
    assert int(row["moments_whole"]) - int(row["moments"]) == saved > 0
    costs = rows(results / "cost.tsv")
    assert {row["scale"] for row in costs} == {"paper", "nano"}
    assert all(float(row["ratio"]) > 0 for row in costs if row["scale"] == "nano")
    for figure in ("fig2_vocab_trend", "fig_memory"):
        assert (results / f"{figure}.png").stat().st_size and (results / f"{figure}.svg").stat().st_size


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(made, name):
    edit, expected = EDITS[name]
    planned = made.planned("vocab_memory", config=(f"set={edit}",))
    assert set(planned) == expected or (not expected and set(planned) <= {"vocab_memory"})
