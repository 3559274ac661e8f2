"""universal-features at nano: what becomes of features, with its controls, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.nano import PARTS
from tests.plans import rerun_counts

SLUG = "universal-features"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLE = "results/universal-features/flow_controls.tsv"
# Random dictionaries of equal density go through the same stages.
COMPARED = {"compare_features": 2, "tabulate_paper": 1}
MERGED = {"merge_models": 1, "train_autoencoder": 1, "evaluate_autoencoder": 1, "encode_features": 3, **COMPARED}
EDITS = {
    "comparison.thresholds=[0.8, 0.9]": COMPARED,
    "merging.fraction=0.5": MERGED,
    "merging.sweep=[0.0, 1.0]": {},
    "interpretation.features=9": {},
    "autoencoder.other_seed=7": {
        "train_autoencoder": 2, "evaluate_autoencoder": 2, "encode_features": 4, **COMPARED
    },
    # A random dictionary has no quality to be measured.
    "held_out.quality_blocks=20": {"evaluate_autoencoder": 7, **COMPARED, "compare_features": 1},
}  # fmt: skip


def test_every_link_stands_beside_its_controls(made):
    found = read_tsv(made.nano / TABLE)
    shown = {
        (control, parent, child) for control, parent, child in found[["control", "parent", "child"]].to_numpy().tolist()
    }
    edges = [("base", "lua"), ("base", "stories"), ("lua", "merged"), ("stories", "merged")]
    assert {("lineage", *edge) for edge in edges} <= shown
    assert {("neurons", f"{one}_neurons", f"{two}_neurons") for one, two in edges} <= shown
    assert {("shuffled", *edge) for edge in edges} <= shown
    assert {("unrelated model", "unrelated", child) for child in ("lua", "stories", "merged")} <= shown
    assert {("other autoencoder", role, f"{role}_again") for role in ("base", "lua")} <= shown
    assert ("other seed across", "base", "lua_again") in shown
    assert set(found["positions"]) == {"all", "inner"} and set(found["match"]) == {"many", "mutual"}


def test_fewer_features_persist_at_a_higher_threshold(made):
    found = read_tsv(made.nano / TABLE).sort_values("threshold")
    keys = ["control", "dictionary", "parent", "child", "positions", "match"]
    assert found.groupby(keys)["share_parent"].apply(lambda shares: (shares.diff().dropna() <= 0).all()).all()
    by_chance = found[found["control"] == "shuffled"]
    assert (by_chance[by_chance["threshold"] == 0.8]["share_parent"] == 0).all()


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", TABLE) == EDITS[edit]
