"""Names in the paper and in its released tables: checkpoints, pairs of evaluation and training set, groups."""

from __future__ import annotations

from typing import NamedTuple

BASE = "base"
MAIN = "main"
CHECKPOINTS = ("1000", "18000", "342000", "424000", "505000", "592000", "738000", MAIN)


class Pair(NamedTuple):
    """An evaluation set and the training set of the fine-tuned model that is evaluated on it."""

    eval: str
    train: str


CLASS_TO_GEN, GEN_TO_CLASS = "class->gen", "gen->class"
# The pairs behind 61.4 % and 0.3 % (released notebook).
MRC_PAIRS = {
    CLASS_TO_GEN: tuple(Pair(eval, train) for train in ("mnli", "paws") for eval in ("xsum", "socialiqa")),
    GEN_TO_CLASS: tuple(Pair(eval, train) for train in ("xsum", "socialiqa") for eval in ("paws", "mnli_matched")),
}
# Groups of Table 6. The released notebook lists sciq twice, and the printed numbers depend on it.
LEARNED_IN_FINETUNING = (
    Pair("mnli_matched", "mnli"),
    Pair("mnli_mismatched", "mnli"),
    Pair("paws", "paws"),
    Pair("xsum", "xsum"),
    Pair("xlsum", "xsum"),
    Pair("socialiqa", "socialiqa"),
    Pair("boolq", "tulu"),
)
LEARNED_IN_PRETRAINING_ONCE = tuple(
    Pair(eval, "tulu") for eval in ("sciq", "hellaswag", "arc_challenge", "arc_easy", "openbookqa")
)
LEARNED_IN_PRETRAINING = (Pair("sciq", "tulu"), *LEARNED_IN_PRETRAINING_ONCE)

# Rows of Table 3: evaluation and training set.
PREDICTION_ROWS = {
    "MNLI": Pair("mnli_matched", "mnli"),
    "RTE": Pair("rte", "mnli"),
    "Paws": Pair("paws", "paws"),
    "STS-B": Pair("stsb", "paws"),
}
PREDICTION_METHODS = ("free", "constrained", "tokenprob")
# Scores under these methods stand in Table 3 alone.
SIDE_METHODS = ("free", "constrained")

# Columns of a job's scores.tsv.
SCORE_COLUMNS = (
    "family",
    "ckpt",
    "step",
    "tokens",
    "train",
    "lr",
    "eval",
    "data",
    "kind",
    "fmt",
    "shots",
    "method",
    "metric",
    "performance",
    "performance_boot",
    "std",
    "low",
    "high",
    "majority",
    "n",
    "histogram",
    "outside_labels",
    "empty_share",
    "mean_output_tokens",
    "dropped_shots",
    "seed",
    "train_rows",
    "train_steps",
    "note",
)


def checkpoint_order(ckpt: str) -> tuple[bool, int]:
    """Sort key: steps by number, `main` last."""
    return ckpt == MAIN, 0 if ckpt == MAIN else int(ckpt)


# What a job does, as gpu_hours.tsv has it, by its stage.
ACTIVITIES = {"finetune_completions": "training", "score_completions": "evaluation"}
# Sums of Table 4 in GPU hours: evaluation in domain, out of domain, across tasks and of formats together.
PUBLISHED_HOURS = {
    "xsum": {"training": 12.0, "evaluation": 125.2},
    "socialiqa": {"training": 6.0, "evaluation": 56.6},
    "mnli": {"training": 4.6, "evaluation": 27.7},
    "paws": {"training": 5.3, "evaluation": 39.75},
    "tulu": {"training": 360.0, "evaluation": 10.0},
    "total": {"total": 1067.1},
}
# Figure 6b; 6a shows the first group of Table 6.
NEVER_LEARNED = ("mnli_matched", "xsum", "socialiqa", "paws", "boolq")
# Figure 7: one set that pre-training solves, one that it does not.
FIGURE_7 = (Pair("hellaswag", "tulu"), Pair("mnli_matched", "mnli"))
