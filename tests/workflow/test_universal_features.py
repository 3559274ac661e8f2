"""universal-features at nano: what becomes of features, with its controls, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.config.papers import NEIGHBOURS

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


@pytest.mark.parametrize(
    ("edit", "again"),
    [
        ("merging.rivals.ties.values=[0.5]", 1),
        ("merging.rivals.dare.options.drop=0.5", 1),
        ("merging.sweep=[0.0, 1.0]", 1),
        ("held_out.batches=3", 5),
    ],
)
def test_an_edit_of_a_way_to_merge_reruns_its_own_rows_alone(edit, again):
    found = rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", "results/universal-features/merging_ways.tsv")
    assert found == {"evaluate_merges": again, "tabulate_paper": 1}


def test_the_table_of_ways_has_each_way_once_a_seed(made):
    found = read_tsv(made.nano / "results/universal-features/merging_ways.tsv")
    assert found["way"].tolist() == ["slerp", "linear", "task_arithmetic", "ties", "dare"]
    assert found.set_index("way").loc["slerp", "less_slerp"] == 0 and found["lua_loss"].gt(0).all()


def test_the_ways_to_merge_are_neighbours_of_slerp_with_the_cost_of_each(made):
    found = read_tsv(made.nano / NEIGHBOURS).query("paper == @SLUG")
    assert found["claim"].tolist() == ["F15", "F16", "F17", "F18"] and set(found["method"]) == {"slerp"}
    ways = read_tsv(made.nano / "results/universal-features/merging_ways.tsv")
    losses = ways[["lua_loss", "stories_loss"]].mean(axis=1).tolist()
    assert found["neighbour_value"].tolist() == pytest.approx(losses[1:], rel=1e-4)
    assert found["method_value"].tolist() == pytest.approx(losses[:1] * 4, rel=1e-4)
    gap = found["neighbour_value"] - found["method_value"]
    assert found["difference"].tolist() == pytest.approx(gap.tolist(), abs=1e-5)
    # Nothing is judged at nano.
    assert found["verdict"].isna().all() and set(found["scale"]) == {"nano"} and found["seeds"].eq(1).all()
    for side in ("method", "neighbour"):
        assert found[f"{side}_cpu_seconds"].gt(0).all() and found[f"{side}_parameters"].nunique() == 1
    assert found["neighbour_parameters"].tolist() == found["method_parameters"].tolist()
