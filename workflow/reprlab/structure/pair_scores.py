"""Scores of answers to pairs: precision, recall and F1 by task, with intervals, malformed answers and trivial ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from reprlab.evaluation.resampling import percentiles, resample_sums
from reprlab.structure import formats, lookups, scorers
from reprlab.structure.seq2seq_settings import PairScoring, PairTask

MEASURES = ("precision", "recall", "f1")
UPSTREAM = "upstream_"
BASELINES = ("trivial", "rule", "lookup")
"""What needs no model: nothing done, a rule, and each word as it was most often in training."""
COLUMNS = ["task", "split", "metric", "value", "low", "high", "n", "steps", "tokens", *BASELINES]

Texts = Sequence[str]
Sums = tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]


def counts_of(task: PairTask, sources: Texts, gold: Texts, written: Texts) -> tuple[Sums, Sums, np.ndarray]:
    """Counts of each example with what makes scores of their sums: ours, upstream's; and malformed answers.

    Of restoration these are the excerpts whose words cannot be aligned, of tags the answers of another length, of
    boundaries those with other words.
    """
    if task == "restoration":
        own, malformed = scorers.restoration_counts(sources, written, gold)
        upstream, _ = scorers.restoration_counts(sources, written, gold, upstream=True)
    elif task == "sbd":
        own, malformed = scorers.boundary_counts(gold, written)
        sets = scorers.label_set_counts(gold, written).reshape(len(gold), -1)
        return (own, scorers.scores), (sets, _macro), malformed > 0
    elif task in formats.TAG_TASKS:
        own, malformed = scorers.tag_counts(gold, written)
        upstream, _ = scorers.tag_counts(gold, written, upstream=True)
    else:
        own, malformed = scorers.item_counts(task, gold, written)
        upstream, _ = scorers.item_counts(task, gold, written, upstream=True)
    return (own, scorers.scores), (upstream, scorers.scores), malformed > 0


def _macro(sums: np.ndarray) -> np.ndarray:
    return scorers.macro_scores(sums.reshape(*sums.shape[:-1], len(scorers.POSITIONS), len(scorers.COUNTS)))


def trivial_answers(task: PairTask, sources: Texts, gold: Texts) -> list[str]:
    """Baselines without a model: the source again, no item, or the commonest tag of the gold answers for every word."""
    if task in formats.TAG_TASKS:
        known = Counter(tag for text in gold for tag in text.split())
        commonest = min(known, key=lambda tag: (-known[tag], tag))
        return [" ".join([commonest] * len(source.split())) for source in sources]
    return list(sources) if task in ("restoration", "sbd") else [formats.NOTHING] * len(sources)


def score_rows(
    task: PairTask,
    sources: Texts,
    gold: Texts,
    written: Texts,
    settings: PairScoring,
    lookup: lookups.Lookup | None = None,
) -> Iterator[dict[str, Any]]:
    """A row for each measure, ours and upstream's, in percent, with baselines, and the share of malformed answers."""
    own, upstream, malformed = counts_of(task, sources, gold, written)
    answers = {"trivial": trivial_answers(task, sources, gold)}
    if (ruled := [lookups.rule(task, source) for source in sources]) and ruled[0] is not None:
        answers["rule"] = [str(one) for one in ruled]
    if lookup is not None:
        answers["lookup"] = [lookup(source) for source in sources]
    beside = {name: counts_of(task, sources, gold, said) for name, said in answers.items()}
    n = len(gold)
    for side, (prefix, (counts, finish)) in enumerate((("", own), (UPSTREAM, upstream))):
        drawn = finish(resample_sums(counts, settings.resamples, settings.seed))
        values = finish(counts.sum(0))
        floors = {name: finish(found[side][0].sum(0)) for name, found in beside.items()}
        for place, measure in enumerate(MEASURES):
            low, high = percentiles(drawn[..., place], n)
            row = {"metric": prefix + measure, "value": values[place], "low": low, "high": high}
            yield {**row, "n": n, **{name: floor[place] for name, floor in floors.items()}}
    yield {"metric": "malformed", "value": 100 * malformed.mean(), "n": n}
