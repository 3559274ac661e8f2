"""Where scores stand: above what needs no model, and above what the same model scores without training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from reprlab.statistics.estimates import LEVEL, normal_quantile
from reprlab.statistics.means import difference_of_groups, mean_over_units

ABOVE = "above"
NOT_ABOVE = "not above"


@dataclass(frozen=True)
class Score:
    """Score of one seed with its interval over examples; without bounds only the seeds judge."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def turned(self) -> Score:
        """The same score with the other sign: of two errors the smaller one is then the larger."""
        return Score(-self.value, -self.high, -self.low)


@dataclass(frozen=True)
class Standing:
    """Two flags, and their margins with the lower ends. `unit` is what judged, `n` how many of them.

    The flags answer different questions: `above_trivial`, whether a reader gets more than from what needs no model;
    `above_untrained`, whether training made the difference. Without an untrained model to compare with the second is
    "" and its margins are NaN.
    """

    above_trivial: str
    above_untrained: str
    over_trivial: float
    over_trivial_low: float
    over_untrained: float
    over_untrained_low: float
    unit: str
    n: int


def standing(
    scores: Sequence[Score],
    trivial: float,
    untrained: Sequence[Score] = (),
    *,
    tried: int = 1,
    better: Literal["higher", "lower"] = "higher",
) -> Standing:
    """Whether the scores of a model's seeds are above a trivial answer's, and above those of the untrained model.

    Above the trivial answer: with one seed, its interval over examples is. With several, the mean of their lower ends
    over examples is (they share the examples), and so is the interval over seeds, or each seed's own over examples.
    Where only some seeds are above it one by one (Bonferroni over the seeds) they are counted, `above with 1 of 3
    seeds`. Above the untrained model: the difference is so over examples and, with more than two runs, over seeds.

    Where nothing is above, `above` comes up in 2.5 % of cases at most, and so does a count.

    Args:
        scores: one of each seed, on the same examples, in the unit of `trivial`.
        trivial: what the trivial answer scores on these examples.
        untrained: scores of the same model without training (random or pre-trained weights), tuned alike, one a seed.
        tried: rates or layers of which the best was chosen on the examples that are judged; the reach above the
            trivial answer is Bonferroni's. 1 where it was fixed, or chosen on other examples.
        better: lower for errors and losses: then all is turned round, and `above` and the margins say how much better.

    Raises:
        ValueError: there is no score.
    """
    if not scores:
        raise ValueError("no score to judge")
    if better == "lower":
        return standing([one.turned for one in scores], -trivial, [one.turned for one in untrained], tried=tried)
    n, values = len(scores), [one.value for one in scores]
    down = fmean(one.value - one.low for one in scores)
    over_seeds = mean_over_units([one - trivial for one in values], "seed", level=1 - (1 - LEVEL) / tried)
    first = Margin(fmean(values) - trivial, _wider(tried) * down, over_seeds.low)
    counted = _above(scores, trivial, n * tried)
    above_trivial = f"{ABOVE} with {counted} of {n} seeds" if counted else NOT_ABOVE
    if first.holds(each=n > 1 and _above(scores, trivial, tried) == n):
        above_trivial = ABOVE
    second = Margin(math.nan, math.nan, math.nan)
    above_untrained = ""
    if untrained:
        others = [one.value for one in untrained]
        reach = math.hypot(down, fmean(one.high - one.value for one in untrained))
        second = Margin(fmean(values) - fmean(others), reach, difference_of_groups(values, others, "seed").low)
        above_untrained = ABOVE if second.holds() else NOT_ABOVE
    unit = "seed" if n > 1 else "example"
    return Standing(above_trivial, above_untrained, first.value, first.low, second.value, second.low, unit, n)


@dataclass(frozen=True)
class Margin:
    """Mean score above a baseline, its reach downwards over examples, and its lower end over seeds; NaN: unknown."""

    value: float
    reach: float
    seeds_low: float

    @property
    def low(self) -> float:
        """The lower of the ends that are known."""
        ends = [end for end in (self.value - self.reach, self.seeds_low) if not math.isnan(end)]
        return min(ends, default=math.nan)

    def holds(self, *, each: bool = False) -> bool:
        """Whether it is above 0 over all that is known; `each` stands in for the seeds."""
        return self.value - self.reach > 0 if each else self.low > 0


def _above(scores: Sequence[Score], trivial: float, tests: int) -> int:
    """Scores that lie above by themselves, over examples, with Bonferroni over `tests`."""
    return sum(one.value - _wider(tests) * (one.value - one.low) > trivial for one in scores)


def _wider(tests: int) -> float:
    return normal_quantile(1 - (1 - LEVEL) / tests) / normal_quantile()
