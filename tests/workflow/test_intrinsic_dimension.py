"""intrinsic-dimension at nano: from nothing to its tables, one pass for all that reads it, and what an edit reruns."""

import csv
import math
from collections import Counter

import pytest

from tests.plans import rerun_jobs

SLUG = "intrinsic-dimension"
pytestmark = pytest.mark.reads(SLUG)
STATES = ("build_prompts", "train_adapter", "collect_states", "estimate_dimension")
# What follows from estimates or answers.
TABLES = {"gather_results", "tabulate_paper", "compare_published", "test_claims", "plot_figure"}
# The comparison and its dynamics ask movie snippets; the control for shared demonstrations asks tweets.
ZERO_SHOT = {"id_sst2/icl_0", "id_sst2/icl_0_float32"}
TUNED = {"id_sst2/sft_4_validation", "id_sst2/sft_4_train", "id_sst2/sft_4_seed1_validation"}
SST2 = ZERO_SHOT | TUNED | {"id_sst2/icl_5", "id_sst2/icl_5_seed1"}
ALL = SST2 | {"id_tweets/icl_unique_0", "id_tweets/icl_unique_5"}
# Edit: jobs of the stages before the tables, collections among them, and rules after them.
EDITS = {
    "nothing": ("estimation.seed=0", {}, set(), set()),
    "template of one data set": (
        "data.datasets.sst2.template=Say {text} Good?",
        {"build_prompts": 4, "train_adapter": 2, "collect_states": 7, "estimate_dimension": 7},
        SST2,
        TABLES | {"estimate_cost", "score_prompt_baselines", "measure_token_clouds"},
    ),
    "template of the other": (
        "icl_unique.datasets.tweets.template=Say {text} Good?",
        {"build_prompts": 4, "collect_states": 2, "estimate_dimension": 2},
        ALL - SST2,
        TABLES | {"estimate_cost", "score_prompt_baselines"},
    ),
    "estimator": (
        "estimation.estimators.two_nn.discard=0.2",
        {"estimate_dimension": 9},
        set(),
        TABLES | {"measure_token_clouds"},
    ),
    # Beside other seeds there are none.
    "halves of the jackknife": ("estimation.halves=4", {"estimate_dimension": 6}, set(), TABLES),
    "level of the intervals": ("estimation.confidence=0.9", {}, set(), TABLES),
    "learning rate of the adapters": (
        "finetuning.optimizer.learning_rate=0.0002",
        {"train_adapter": 2, "collect_states": 3, "estimate_dimension": 3},
        TUNED,
        TABLES | {"estimate_cost"},
    ),
    "one more seed": (
        "replication.seeds=[1, 2]",
        {"build_prompts": 1, "train_adapter": 1, "collect_states": 2, "estimate_dimension": 2},
        {"id_sst2/icl_5_seed2", "id_sst2/sft_4_seed2_validation"},
        # No figure shows the seeds.
        TABLES - {"plot_figure"} | {"estimate_cost"},
    ),
    "one more number of demonstrations": (
        "comparison.shots=[0, 2, 5]",
        {"build_prompts": 1, "collect_states": 1, "estimate_dimension": 1},
        {"id_sst2/icl_2"},
        TABLES | {"estimate_cost"},
    ),
}


def rows(path):
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def results(made, table):
    return rows(made.nano / "results/intrinsic-dimension" / f"{table}.tsv")


def test_curves_are_finite_and_the_embedding_is_left_out(made):
    found = results(made, "id_layers")
    assert {row["layer"] for row in found} == {"1", "2", "3", "4"}
    assert {row["estimator"] for row in found} == {"two_nn", "two_nn_ml", "levina_bickel", "gride_2_4"}
    assert all(math.isfinite(float(row["id"])) and float(row["id"]) > 0 for row in found)
    assert {row["dataset"] for row in results(made, "icl_unique")} == {"tweets"}
    assert (made.nano / "results/intrinsic-dimension/id_layers.png").stat().st_size > 5_000


def test_step_zero_is_the_zero_shot_model(made):
    """Spec 5.11: an adapter that was not trained changes no state, so that both areas are the same number."""
    start = {
        row["estimator"]: row["auc_paper"]
        for row in results(made, "auc")
        if (row["experiment"], row["split"], row["step"]) == ("sft_dynamics", "validation", "0")
    }
    asked = {
        row["estimator"]: row["auc_paper"]
        for row in results(made, "auc")
        if (row["experiment"], row["condition"]) == ("comparison", "icl_0")
    }
    assert start == asked and "two_nn" in start
    end = [row for row in results(made, "auc") if (row["experiment"], row["step"]) == ("sft_dynamics", "4")]
    assert end and all(row["auc_paper"] not in asked.values() for row in end)


def test_every_estimator_and_the_accuracies_read_one_collection(made):
    """Each pass is read by all estimators and by the table of accuracies."""
    states = made.nano / "results/shared/states/llama_nano"
    assert {path.parent.relative_to(states).as_posix() for path in states.rglob("items.parquet")} == ALL
    logs = made.nano / "results/logs/collect_states"
    assert len(list(logs.glob("*.log"))) == len(ALL)
    estimates = made.nano / "results/shared/dimensions/llama_nano"
    for key in ALL:
        assert {row["estimator"] for row in rows(estimates / f"{key}.tsv")} >= {"two_nn", "levina_bickel", "gride_2_4"}
    assert all(float(row["icl_0"]) > 0 for row in results(made, "accuracy") if row["dataset"] == "sst2")


def test_tokens_of_single_prompts_are_measured_as_written_and_shuffled(made):
    found = results(made, "token_geometry")
    assert {row["tokens_are"] for row in found} == {"written", "shuffled"} and {row["n"] for row in found} == {"8"}
    by_layer = [row for row in found if row["layer"]]
    assert {row["layer"] for row in by_layer} == {"1", "2", "3", "4"}
    assert {row["metric"] for row in by_layer} == {"token_dimension", "token_overlap", "token_cosine"}
    assert {row["metric"] for row in found} - {row["metric"] for row in by_layer} == {
        "token_loss",
        "dimension_and_loss",
    }
    assert all(math.isfinite(float(row["value"])) for row in found)


def test_spread_over_seeds(made):
    found = {(row["condition"], row["measure"]): row for row in results(made, "seeds")}
    assert {condition for condition, _ in found} == {"icl_5", "sft_1k"}
    assert found["icl_5", "auc_two_nn"]["seeds"] == "42 1" and float(found["icl_5", "auc_two_nn"]["sd"]) > 0
    assert float(found["sft_1k", "auc_two_nn"]["sd"]) > 0


def test_costs_of_published_and_measured_runs(made):
    found = results(made, "cost")
    assert {row["scale"] for row in found} == {"paper", "nano"}
    counted = [row for row in found if row["stage"] in ("train_adapter", "collect_states")]
    assert all(float(row["hours"]) > 0 for row in counted if row["scale"] == "paper")
    assert all(float(row["ratio"]) > 0 for row in counted if row["scale"] == "nano")


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(name):
    edit, counts, collected, others = EDITS[name]
    jobs = rerun_jobs(SLUG, "", f"papers.{SLUG}.{edit}")
    planned = Counter(stage for stage, _ in jobs)
    assert {stage: planned[stage] for stage in STATES if stage in planned} == counts
    assert {key.removeprefix("llama_nano/") for stage, key in jobs if stage == "collect_states"} == collected
    assert set(planned) - set(STATES) == others
