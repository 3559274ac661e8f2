"""Names in the paper and in its released tables: checkpoints, pairs of evaluation and training set, methods."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from reprlab.results.words import printed_of

BASE = "base"
MAIN = "main"
# Ways to a fine-tuned last checkpoint beside the paper's, which has no name in that column.
WAYS = {
    "re_adapt": "RE-Adapt (Fleshman and Van Durme 2024)",
    "lore_adapt": "LoRE-Adapt (Fleshman and Van Durme 2024)",
}
_PRINTED = printed_of("amuro-char")
CHECKPOINTS = _PRINTED.known["released_performance"].values


class Pair(NamedTuple):
    """An evaluation set and the training set of the fine-tuned model that is evaluated on it."""

    eval: str
    train: str


def pairs_of(texts: list[str]) -> list[Pair]:
    """The pairs of a group of the config, written as `eval<-train`."""
    return [Pair(*text.split("<-")) for text in texts]


CLASS_TO_GEN, GEN_TO_CLASS = "class->gen", "gen->class"


def mrc_pairs(groups: Any) -> dict[str, list[Pair]]:
    """The pairs of section 4.3 by direction, of `papers.amuro-char.groups`."""
    named = {CLASS_TO_GEN: "class_to_generation", GEN_TO_CLASS: "generation_to_class"}
    return {direction: pairs_of(groups.mrc[name]) for direction, name in named.items()}


def table6_pairs(groups: Any) -> dict[str, list[Pair]]:
    """The groups of Table 6. The released notebook lists sciq twice, and the printed numbers depend on it: the
    repetition stands first."""
    found = {name: pairs_of(pairs) for name, pairs in groups.table6.items()}
    learned = found["learned_in_pretrain"]
    twice = [pair for name in groups.counted_twice for pair in learned if pair.eval == name]
    return found | {"learned_in_pretrain": [*twice, *learned]}


# Rows of Table 3: evaluation and training set.
PREDICTION_ROWS = {
    "MNLI": Pair("mnli_matched", "mnli"),
    "RTE": Pair("rte", "mnli"),
    "Paws": Pair("paws", "paws"),
    "STS-B": Pair("stsb", "paws"),
}
PREDICTION_METHODS = _PRINTED.tables["table3_prediction_method"].values
# Scores under the other methods are in Table 3 alone.
MAIN_METHODS = ("generate", "tokenprob", "loglikelihood")
# Figure 6b; 6a shows the first group of Table 6.
NEVER_LEARNED = ("mnli_matched", "xsum", "socialiqa", "paws", "boolq")
# Figure 7: one set that pre-training solves, one that it does not.
FIGURE_7 = (Pair("hellaswag", "tulu"), Pair("mnli_matched", "mnli"))


def checkpoint_order(ckpt: str) -> tuple[bool, int]:
    """Sort key: steps by number, `main` last."""
    return ckpt == MAIN, 0 if ckpt == MAIN else int(ckpt)


def last_checkpoint(names: Iterable[str]) -> str:
    """The last of some checkpoints."""
    return max(map(str, names), key=checkpoint_order, default=MAIN)


def first_checkpoint(names: Iterable[str]) -> str:
    """The first of some checkpoints."""
    return min(map(str, names), key=checkpoint_order, default=MAIN)
