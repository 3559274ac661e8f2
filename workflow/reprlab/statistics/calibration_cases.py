"""Cases of the calibration: every kind of rule at the numbers of units that the papers have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from reprlab.evaluation.resampling import percentiles, resample_sums
from reprlab.statistics.correlations import correlation, mean_correlation, rank_correlation, slope
from reprlab.statistics.deviations import ratio_of_deviations
from reprlab.statistics.estimates import Estimate, contrast, largest_of, least_of, over_seeds, within
from reprlab.statistics.halves import correlation_over_halves, over_halves
from reprlab.statistics.means import (
    difference_of_groups,
    difference_over_pairs,
    mean_over_crossed,
    mean_over_units,
    ratio_difference,
    ratio_over_units,
)
from reprlab.statistics.proportions import proportion, share_of_signs
from reprlab.statistics.rules import ABOVE_ZERO, Rule

Draw = Callable[[np.random.Generator, float], Estimate]
_SD = "one sd"
_RESAMPLES = 1_000


@dataclass(frozen=True)
class Case:
    """One row of the table.

    `draw(rng, truth)` makes data whose true value is `truth` and estimates it. `truths` are the true values with no
    effect and with the effect that `effect` names. A `reference` is not our rule: what was used before, or data that
    a rule is not made for.
    """

    name: str
    units: str
    draw: Draw
    effect: str = _SD
    truths: tuple[float, float] = (0.0, 1.0)
    rule: Rule = ABOVE_ZERO
    reference: bool = False


def cases() -> Iterator[Case]:
    """All of them, in the table's order."""
    yield from _means()
    yield from _differences()
    yield from _ratios()
    yield from _shares()
    yield from _correlations()
    yield from _halves()
    yield from _combined()
    yield from _runs()
    yield from _references()


def _means() -> Iterator[Case]:
    for n in (2, 3, 5, 7, 10, 20, 100):
        yield Case("`mean_over_units`", str(n), _mean(n))
    for n in (3, 7, 20):
        name = "`mean_over_units`, between two bounds"
        rule, effect = Rule(-1, 1), "truth midway, bounds at one sd"
        yield Case(name, str(n), _mean(n), effect, (1.0, 0.0), rule)
    for n in (2, 4, 7, 20):
        yield Case("`mean_over_units`, 8 values in each", f"{n} x 8", _nested(n, 8, grouped=True))
    for shape in ((2, 2), (2, 4), (3, 5), (5, 8), (1, 5)):
        yield Case("`mean_over_crossed`", "{} x {}".format(*shape), _crossed(*shape, together=False))


def _mean(n: int) -> Draw:
    return lambda rng, truth: mean_over_units(truth + rng.normal(size=n), "unit")


def _nested(outer: int, inner: int, *, grouped: bool) -> Draw:
    labels = np.repeat(np.arange(outer), inner)

    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        values = truth + rng.normal(size=outer)[labels] + rng.normal(size=outer * inner)
        return mean_over_units(values, "unit", groups=labels if grouped else None)

    return draw


def _crossed(rows: int, columns: int, *, together: bool) -> Draw:
    row, column = np.repeat(np.arange(rows), columns), np.tile(np.arange(columns), rows)
    # A single model's own deviation is part of what is measured: the verdict is about this model.
    spread = float(rows > 1)

    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        own = spread * rng.normal(size=rows)[row] + rng.normal(size=columns)[column]
        values = truth + own + rng.normal(size=rows * columns)
        return (
            mean_over_units(values, "unit") if together else mean_over_crossed(values, {"row": row, "column": column})
        )

    return draw


def _differences() -> Iterator[Case]:
    for n in (12, 30, 100, 400, 1000):
        draw = _answers(n)
        yield Case("`difference_over_pairs`, answers", str(n), draw, "10 points; a fifth differs", (0.0, 0.1))
    for shape in ((1, 3), (2, 2), (3, 3), (2, 5), (3, 20), (10, 10)):
        name, units = "`difference_of_groups`", "{} and {}".format(*shape)
        yield Case(name, units, _groups(*shape, spread=1.0))
    yield Case("`difference_of_groups`, sd of 3 and 1", "3 and 3", _groups(3, 3, spread=3.0))


def _answers(n: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        found = rng.choice([1, -1, 0], p=[0.1 + truth / 2, 0.1 - truth / 2, 0.8], size=n)
        return difference_over_pairs(found > 0, found < 0, "example")

    return draw


def _groups(first: int, second: int, *, spread: float) -> Draw:
    return lambda rng, truth: difference_of_groups(
        truth + spread * rng.normal(size=first), rng.normal(size=second), "unit"
    )


def _ratios() -> Iterator[Case]:
    for n in (4, 8, 24):
        yield Case("`ratio_over_units`", str(n), _ratio(n), "one sd of a batch")
    for n in (4, 24):
        for paired in (True, False):
            name = f"`ratio_difference`, {'paired' if paired else 'not paired'}"
            yield Case(name, str(n), _ratio_difference(n, paired), "one sd of a batch")


def _sums(rng: np.random.Generator, n: int, truth: float) -> tuple[np.ndarray, np.ndarray]:
    counts = rng.integers(50, 150, size=n)
    return counts * (truth + rng.normal(size=n)), counts


def _ratio(n: int) -> Draw:
    return lambda rng, truth: ratio_over_units(*_sums(rng, n, truth), "batch")


def _ratio_difference(n: int, paired: bool) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        sums, counts = _sums(rng, n, 0.0)
        own = counts * rng.normal(size=n) if paired else _sums(rng, n, 0.0)[0]
        other = (sums + own if paired else own, counts)
        return ratio_difference((sums + truth * counts, counts), other, "batch", paired=paired)

    return draw


def _shares() -> Iterator[Case]:
    half = Rule(low=0.5)
    for n in (5, 6, 7, 10, 20, 100):
        yield Case("`share_of_signs`", str(n), _signs(n), "one sd: 84 % of signs", (0.5, 0.8413), half)
    for n in (12, 30, 100, 400):
        name, effect = "`proportion`, above 0.5", "0.6"
        yield Case(name, str(n), _share(n), effect, (0.5, 0.6), half)
    yield Case("`proportion`, above 0.9", "30", _share(30), "1: never a mistake", (0.9, 1.0), Rule(low=0.9))
    for n in (12, 30, 100, 400):
        name, effect = "bootstrap of examples (skewed scores)", "half an sd"
        yield Case(name, str(n), _bootstrap(n), effect, (0.0, 0.12))


def _signs(n: int) -> Draw:
    from statistics import NormalDist

    return lambda rng, truth: share_of_signs(NormalDist().inv_cdf(truth) + rng.normal(size=n), "unit")


def _share(n: int) -> Draw:
    return lambda rng, truth: proportion(int(rng.binomial(n, truth)), n, "example")


def _bootstrap(n: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        # Like ROUGE-L: most of it small; its mean is 1 / 3 and its sd 0.24.
        scores = rng.beta(1, 2, size=n) + truth - 1 / 3
        sums = resample_sums(scores[:, None], _RESAMPLES, int(rng.integers(2**32)))[:, 0] / n
        return Estimate(float(scores.mean()), *percentiles(sums, n), n)

    return draw


def _correlations() -> Iterator[Case]:
    strong, effect = math.sqrt(0.5), "0.71: one sd of noise"
    for n in (5, 6, 7, 10, 20):
        ranks = 6 / math.pi * math.asin(strong / 2)
        yield Case("`rank_correlation`", str(n), _ranks(n), effect, (0.0, ranks))
    for n in (5, 6, 7, 10, 20):
        yield Case("`correlation`", str(n), _pearson(n), effect, (0.0, strong))
    for n in (2, 3, 5, 10):
        name = "`mean_correlation`, 12 points in each"
        yield Case(name, str(n), _mean_correlation(n), effect, (0.0, strong))
    for n in (5, 7, 10, 20):
        yield Case("`slope`", str(n), _slope(n), "one sd of noise")


def _points(rng: np.random.Generator, n: int, strength: float) -> tuple[np.ndarray, np.ndarray]:
    first = rng.normal(size=n)
    return first, strength * first + math.sqrt(1 - strength**2) * rng.normal(size=n)


def _ranks(n: int) -> Draw:
    # Spearman's correlation of a normal pair with Pearson's r is 6 / pi asin(r / 2).
    return lambda rng, truth: rank_correlation(*_points(rng, n, 2 * math.sin(math.pi * truth / 6)), "point")


def _pearson(n: int) -> Draw:
    return lambda rng, truth: correlation(*_points(rng, n, truth), "point")


def _mean_correlation(n: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        return mean_correlation([float(np.corrcoef(*_points(rng, 12, truth))[0, 1]) for _ in range(n)], "unit")

    return draw


def _slope(n: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        first = rng.normal(size=n)
        return slope(first, truth * first + rng.normal(size=n), "point")

    return draw


def _halves() -> Iterator[Case]:
    for points, count in ((40, 5), (40, 6), (100, 20)):
        units = f"{count} halves of {points}"
        yield Case("`over_halves`, mean", units, _mean_of_halves(points, count), "half an sd of a point", (0.0, 0.5))
        effect = "0.71: one sd of noise"
        draw = _correlation_of_halves(points, count)
        yield Case("`correlation_over_halves`", units, draw, effect, (0.0, math.sqrt(0.5)))


def _split(rng: np.random.Generator, points: int, count: int) -> np.ndarray:
    return np.argsort(rng.random((count, points)), axis=1)[:, : points // 2]


def _mean_of_halves(points: int, count: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        values = truth + rng.normal(size=points)
        return over_halves(float(values.mean()), values[_split(rng, points, count)].mean(1), "point")

    return draw


def _correlation_of_halves(points: int, count: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        first, second = _points(rng, points, truth)
        split = _split(rng, points, count)
        halves = [_r(first[half], second[half]) for half in split]
        return correlation_over_halves(_r(first, second), halves, "point")

    return draw


def _r(first: Any, second: Any) -> float:
    first, second = first - first.mean(), second - second.mean()
    return float((first @ second) / math.sqrt((first @ first) * (second @ second)))


def _combined() -> Iterator[Case]:
    for n in (30, 100, 400):
        yield Case("`contrast` of two shares", str(n), _contrast(n), "20 points", (0.0, 0.2))
    for n in (30, 100, 400):
        yield Case(
            "`largest_of` 4 differences of answers", str(n), _largest(n), "10 points; a fifth differs", (0.0, 0.1)
        )


def _contrast(n: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        shares = [proportion(int(rng.binomial(n, p)), n, "example") for p in (0.6 + truth, 0.6)]
        return contrast(shares, (1.0, -1.0))

    return draw


def _largest(n: int) -> Draw:
    answers = _answers(n)

    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        # Differences of a few sets without a single answer that differs have no interval and are not a choice.
        found = [one for one in (answers(rng, truth) for _ in range(4)) if not math.isnan(one.low)]
        return largest_of(found)[1]

    return draw


def _runs() -> Iterator[Case]:
    for shape in ((2, 30), (2, 100), (3, 100)):
        units = "{} runs on {} items".format(*shape)
        yield Case("`within`", units, _within(*shape), "half an sd of an item", (0.0, 0.5))
    name = "`within`, a run half an sd above, one as much below"
    yield Case(name, "2 runs on 100 items", _within(2, 100, apart=0.5), "half an sd of an item", (0.0, 0.5))
    yield Case("`over_seeds`", "4 runs", lambda rng, truth: over_seeds(_run_means(rng, 4, truth)))
    for n in (5, 20):
        effect, draw = "one sd; two others another above", _least(n)
        yield Case("`least_of` 3 means", str(n), draw, effect)
    for sets, n in ((1, 4), (1, 5), (1, 15), (4, 5), (2, 15)):
        name, units = "`ratio_of_deviations`", f"{f'{sets} sets of ' * (sets > 1)}{n} and {n}"
        yield Case(name, units, _deviations(sets, n), "half the deviation", (1.0, 0.5), Rule(high=1.0))


def _within(runs: int, items: int, *, apart: float = 0.0, drawn: float = 0.0) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        own = truth + apart * np.linspace(-1, 1, runs) + drawn * rng.normal(size=runs)
        # Of an item a part is common to all runs.
        values = own[:, None] + math.sqrt(0.5) * (rng.normal(size=items) + rng.normal(size=(runs, items)))
        return within([mean_over_units(one, "item") for one in values])

    return draw


def _run_means(rng: np.random.Generator, runs: int, truth: float) -> list[Estimate]:
    return [Estimate(value, value - 0.1, value + 0.1, 100, "item") for value in truth + rng.normal(size=runs)]


def _least(n: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        values = truth + np.array([[0.0], [1.0], [1.0]]) + rng.normal(size=(3, n))
        return least_of([mean_over_units(one, "unit") for one in values])

    return draw


def _deviations(sets: int, n: int, *, tails: int = 0) -> Draw:
    def values(rng: np.random.Generator) -> np.ndarray:
        return rng.standard_t(tails, size=n) if tails else rng.normal(size=n)

    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        first, second = ([factor * values(rng) for _ in range(sets)] for factor in (truth, 1.0))
        return ratio_of_deviations(first, second, "unit")

    return draw


def _references() -> Iterator[Case]:
    for n in (2, 3, 7, 20):
        yield Case("percentile bootstrap over units", str(n), _percentile_bootstrap(n), reference=True)
    yield Case("`mean_over_units` of 4 x 8 values as 32 units", "32", _nested(4, 8, grouped=False), reference=True)
    for shape in ((2, 2), (3, 5)):
        units, draw = "{} x {}".format(*shape), _crossed(*shape, together=True)
        yield Case("`mean_over_units` of crossed values", units, draw, reference=True)
    for n in (3, 10, 100):
        yield Case("`mean_over_units` of units with a long right tail", str(n), _skewed(n, 1.0), reference=True)
        yield Case("`mean_over_units` of units with a long left tail", str(n), _skewed(n, -1.0), reference=True)
    yield Case(
        "`within` of runs that differ as much as their items allow, asked about other runs",
        "2 runs on 100 items",
        _within(2, 100, drawn=0.1),
        "half an sd of an item",
        (0.0, 0.5),
        reference=True,
    )
    for n in (5, 15):
        name, units = "`ratio_of_deviations` of units with long tails (t, 4 degrees)", f"{n} and {n}"
        tails, effect = _deviations(1, n, tails=4), "half the deviation"
        yield Case(name, units, tails, effect, (1.0, 0.5), Rule(high=1.0), reference=True)
        name, draw = "smaller of two deviations, as counted", _counted(n)
        yield Case(name, units, draw, effect, (1.0, 0.5), Rule(high=1.0), reference=True)


def _counted(n: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        ratio = truth * float(rng.normal(size=n).std(ddof=1) / rng.normal(size=n).std(ddof=1))
        return Estimate(ratio, ratio, ratio, n)

    return draw


def _percentile_bootstrap(n: int) -> Draw:
    def draw(rng: np.random.Generator, truth: float) -> Estimate:
        values = truth + rng.normal(size=n)
        means = values[rng.integers(0, n, size=(_RESAMPLES, n))].mean(1)
        low, high = np.percentile(means, [2.5, 97.5])
        return Estimate(float(values.mean()), float(low), float(high), n)

    return draw


def _skewed(n: int, side: float) -> Draw:
    return lambda rng, truth: mean_over_units(truth + side * (rng.exponential(size=n) - 1), "unit")
