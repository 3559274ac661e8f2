"""Stability of the flags of standing: scores of seeds on one set of examples, drawn twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from reprlab.evaluation.resampling import binomial_interval
from reprlab.statistics.standing import ABOVE, NOT_ABOVE, Score, standing

_MAJORITY = 0.52
"""Share of the most frequent label, as in the tasks of the papers with two labels."""


@dataclass(frozen=True)
class Setting:
    """Seeds that answer `examples` alike: a share `common` of answers is one and the same with every seed.

    Accuracy is that of the most frequent label plus `gain`; `failing` is the share of seeds that do not train; each
    score is the best of `tried`.
    """

    what: str
    seeds: int
    examples: int
    gain: float = 0.0
    common: float = 0.0
    failing: float = 0.0
    untrained: bool = False
    tried: int = 1


def settings() -> Iterator[Setting]:
    """All of them, in the table's order."""
    for seeds in (1, 2, 3, 5):
        for examples in (100, 500):
            yield Setting("nothing learned", seeds, examples)
    for seeds in (3, 5):
        yield Setting("nothing learned, nine answers of ten the same with every seed", seeds, 100, common=0.9)
    for seeds in (1, 3, 5):
        yield Setting(
            "no better than the untrained model (10 points above the majority)", seeds, 100, 0.1, untrained=True
        )
    for seeds in (1, 3):
        yield Setting("nothing learned, the best of three learning rates on these examples", seeds, 100, tried=3)
    for seeds in (1, 3, 5):
        yield Setting("20 points learned", seeds, 100, 0.2)
        yield Setting("10 points learned", seeds, 500, 0.1)
    yield Setting("20 points learned by half of the seeds", 3, 100, 0.2, failing=0.5)


def draw_scores(rng: np.random.Generator, one: Setting, *, trained: bool = True) -> list[Score]:
    """Scores of the seeds with their exact intervals over examples."""
    same = rng.random(one.examples)
    found = []
    for _ in range(one.seeds):
        gain = 0.0 if trained and rng.random() < one.failing else one.gain
        luck = np.where(rng.random(one.examples) < one.common, same, rng.random((one.tried, one.examples)))
        right = int((luck < _MAJORITY + gain).sum(1).max())
        found.append(Score(right / one.examples, *binomial_interval(right, one.examples)))
    return found


def flags(rng: np.random.Generator, one: Setting, simulations: int) -> list[str]:
    """The flag of each simulated study: above the untrained model where there is one, else above the majority."""
    found = []
    for _ in range(simulations):
        scores = draw_scores(rng, one)
        untrained = draw_scores(rng, one, trained=False) if one.untrained else []
        both = standing(scores, _MAJORITY, untrained, tried=one.tried)
        found.append(both.above_untrained if one.untrained else both.above_trivial)
    return found


def standing_rows(simulations: int, generator: Callable[[str], np.random.Generator]) -> Iterator[str]:
    """Lines of the table: shares of `above` and of counted seeds, and how often two studies differ in the flag."""
    for one in settings():
        yield standing_row(one, simulations, generator)


def standing_row(one: Setting, simulations: int, generator: Callable[[str], np.random.Generator]) -> str:
    """One line."""
    rng = generator(f"{one.seeds} {one.examples} {one.what}")
    first, second = (flags(rng, one, simulations // 2) for _ in range(2))
    both = [*first, *second]
    sure = both.count(ABOVE) / len(both)
    counted = sum(flag not in (ABOVE, NOT_ABOVE) for flag in both) / len(both)
    # That another number of seeds trained is not a flip.
    flips = sum(a.partition(" with")[:2] != b.partition(" with")[:2] for a, b in zip(first, second, strict=True)) / len(
        first
    )
    shares = " | ".join(f"{100 * share:.1f} %" for share in (sure, counted, flips))
    flag = "above_untrained" if one.untrained else "above_trivial"
    return f"| {one.seeds} | {one.examples} | {one.what} | `{flag}` | {shares} |"
