"""amuro-char at nano: from nothing to its scores, and what an edit reruns."""

import csv
import json

import pytest

from tests.plans import rerun_counts

SLUG = "amuro-char"
pytestmark = pytest.mark.reads(SLUG)
WHOLE = {"gather_results", "compare_published", "test_claims"}
DRAWN = WHOLE | {"tabulate_paper", "plot_figure"}
SCORES = {"score_completions", "sum_hours"} | DRAWN
TUNING = {"finetune_completions", "merge_models"} | SCORES
# What another number of updates, beams or batches takes.
COST = {"estimate_cost"}
TRIVIAL = {"score_completion_baselines"}
PROMPTS = {"build_completions"} | TRIVIAL | TUNING
PAPER = "papers.amuro-char"
EDITS = {
    "nothing": (f"{PAPER}.prediction.bootstrap=50", set()),
    "resamples of the scores": (f"{PAPER}.prediction.bootstrap=60", SCORES | TRIVIAL),
    "beams": (f"{PAPER}.prediction.beams=2", SCORES | COST),
    "weight decay of fine-tuning": (f"{PAPER}.finetuning.weight_decay=0.1", TUNING),
    "learning rate of one task": (f"{PAPER}.families.ladder.chosen.mnli=3e-3", TUNING),
    "spaces of the prompts": (f"{PAPER}.prompts.spacing=clean", PROMPTS),
    "another held-out loss of the ladder": (
        f"{PAPER}.pretraining.evaluation_batches=3",
        {"evaluate_lm"} | WHOLE | COST,
    ),
    "updates of pre-training": (
        f"{PAPER}.pretraining.steps=7",
        {"pretrain_lm", "evaluate_lm"} | TUNING | COST,
    ),
    "rank of LoRE-Adapt": (
        f"{PAPER}.neighbours.re_adapt.rank=3",
        {"merge_models", "score_completions"} | DRAWN - {"plot_figure"},
    ),
    "pairs of a mean": (f"{PAPER}.groups.mrc.generation_to_class=[paws<-xsum]", DRAWN),
}


def rows(path):
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def scores(made, train, part="all"):
    return rows(made.nano / "results/shared/scored/ladder" / train / part / "scores.tsv")


def test_base_is_scored_once_and_shared(made):
    """BASE has a row for each set and checkpoint; no job of a fine-tuned model scores it again."""
    base = scores(made, "base")
    plain = [
        row
        for row in base
        if (row["fmt"], row["shots"]) == ("default", "1") and row["method"] not in ("free", "constrained")
    ]
    assert len(plain) == len({(row["ckpt"], row["eval"]) for row in plain}) == 2 * 7
    assert {row["train"] for row in scores(made, "paws")} == {"paws"}


def test_re_adapt_is_scored_as_the_fine_tuned_last_checkpoint_is(made):
    columns = ("ckpt", "step", "train", "eval", "fmt", "shots", "method", "n", "seed")
    tuned, moved = (
        [tuple(row[name] for name in columns) for row in scores(made, "paws", part)] for part in ("all", "lore_adapt")
    )
    usual = [
        one
        for one in tuned
        if one[0] == "main" and one[4:6] == ("default", "1") and one[6] not in ("free", "constrained")
    ]
    assert sorted(moved) == sorted(usual)
    (folder,) = (made.nano / "results/shared/merged").glob("amuro_char_ladder_paws_lore_adapt")
    assert (folder / "model.safetensors").exists() and (folder / "tokenizer.json").exists()


def test_rows_say_what_they_are(made):
    for row in [*scores(made, "base"), *scores(made, "paws")]:
        assert row["data"] and 0 <= float(row["low"]) <= float(row["value"]) <= float(row["high"]) <= 100
        assert (row["majority"] == "") == (row["kind"] == "generation")
        assert bool(row["histogram"]) == (row["kind"] == "classification")
        assert bool(row["mean_output_tokens"]) == (row["kind"] == "generation")
        if row["histogram"]:
            assert sum(json.loads(row["histogram"]).values()) == int(row["n"])
    tuned = scores(made, "paws")
    assert {row["train_rows"] for row in tuned} == {"16"} and {row["seed"] for row in tuned} == {"42"}
    assert {row["method"] for row in tuned if row["eval"] == "paws"} == {"tokenprob", "free", "constrained"}


def test_the_learning_rate_is_the_one_with_the_lower_held_out_loss(made):
    found = rows(made.nano / "results/shared/tuned/ladder/paws/all/metrics.tsv")
    for name in ("2", "main"):
        of_name = [row for row in found if row["name"] == name]
        best = min(of_name, key=lambda row: float(row["held_out_loss"]))
        assert [row["chosen"] for row in of_name].count("1") == 1 and best["chosen"] == "1"
        (rate,) = {row["lr"] for row in scores(made, "paws") if row["ckpt"] == name}
        assert float(rate) == float(best["learning_rate"])


def test_losses_fall_and_fine_tuning_fits_its_rows(made):
    for row in rows(made.nano / "results/shared/tuned/ladder/xsum/all/metrics.tsv"):
        assert float(row["held_out_loss"]) < float(row["held_out_loss_before"])
    metrics = rows(made.nano / "results/shared/pretrained/amuro_char_ladder/metrics.tsv")
    assert float(metrics[-1]["loss"]) < float(metrics[0]["loss"])


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(name):
    edit, expected = EDITS[name]
    assert set(rerun_counts(SLUG, "", edit)) == expected
