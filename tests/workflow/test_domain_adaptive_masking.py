"""domain-adaptive-masking at nano, one masking: from a graph and text to its losses, and what an edit reruns."""

import json

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.nano import PARTS
from tests.plans import rerun_counts

SLUG = "domain-adaptive-masking"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLE = "results/domain-adaptive-masking/pretrain_loss.tsv"
TRAINED = {"pretrain_lm": 1, "evaluate_lm": 1, "tabulate_paper": 1}
# The losses of the model before are on marked text too.
FILTERED = {"filter_concepts": 1, "mark_concepts": 1, **TRAINED, "evaluate_lm": 2}
EXPANDED = {"expand_concepts": 1, **FILTERED}
EDITS = {
    "curriculum.general_divisor=2.0": FILTERED,
    "curriculum.hops=2": EXPANDED,
    "curriculum.basic=40": {"select_concepts": 1, **EXPANDED},
    "curriculum.reported_hops=[0, 1]": {},
    "pretraining.budget=0.1": TRAINED,
    "neighbours.replay.shares=[0.25]": {},
    "finetuning.learning_rate=0.01": {},
}


def test_the_table_has_the_start_and_every_step(made):
    found = read_tsv(made.nano / TABLE)
    assert set(zip(found["masking"], found["step"], strict=True)) == {("none", 0), ("concept", 2), ("concept", 4)}
    assert set(found["masks"]) == {"tokens", "concepts", "general"} and (found["loss"] > 0).all()


def test_replay_stands_beside_every_arm_with_the_share_that_was_read(made):
    found = read_tsv(made.nano / "results/domain-adaptive-masking/replay.tsv").set_index(["masking", "replay"])
    assert found.index.tolist() == [("none", 0), ("concept", 0), ("concept", 5)]
    assert (found[["general", "concepts", "tokens"]] > 0).all(axis=None)
    assert found["replayed_share"].tolist()[2] == pytest.approx(100 / 32), "one of 32 blocks"
    assert (found.loc[("none", 0), ["general_change", "tokens_change"]] == 0).all()


def test_every_step_of_the_curriculum_is_counted(made):
    folder = made.nano / "results/shared/curricula/domain_adaptive_masking"
    record = json.loads((folder / "curriculum.json").read_text())
    sizes, chosen = record["sizes"], record["settings"]
    assert (chosen["frequency"], chosen["basic"], chosen["hops"], chosen["general_limit"]) == (30, 50, 1, 10.0)
    assert sizes["frequent"] >= sizes["basic"] and sizes["basic"] <= chosen["basic"]
    assert set(sizes) == {"graph", "frequent", "basic", "expanded", "after_general", "after_domain"}
    assert sizes["graph"] > sizes["expanded"] > sizes["after_general"] > sizes["after_domain"] > 0
    assert len((folder / "concepts.txt").read_text().splitlines()) == sizes["after_domain"]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", TABLE) == EDITS[edit]


def test_another_share_of_replay_trains_that_alone():
    edit, table = f"papers.{SLUG}.neighbours.replay.shares=[0.25]", TABLE.replace("pretrain_loss", "replay")
    assert rerun_counts(SLUG, PART.edits, edit, table) == TRAINED
