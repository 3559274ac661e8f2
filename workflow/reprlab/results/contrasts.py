"""Contrasts that claims are decided by, as records: two selections, their pairing, and the unit of the interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reprlab.results.frame import Choice, Frame, Rows
from reprlab.results.items import difference_over_items
from reprlab.statistics import (
    FEWEST_SEEDS,
    Estimate,
    contrast,
    difference_over_pairs,
    mean_of_shared,
    over_seeds,
    ratio_difference,
    ratio_over_units,
)

Where = Mapping[str, Choice]


def outer_unit(units: str, *sides: Rows) -> str:
    """The first of `units` (outer ones first, spaces between them) that has several values on a side, else the last."""
    names = units.split()
    return next((name for name in names if max(side[name].nunique() for side in sides) > 1), names[-1])


def scores_of(rows: Rows, item: str = "example") -> list[Estimate]:
    """An estimate of each score, with its interval over examples, or whatever the items of its test set are."""
    bounds = rows[["value", "low", "high", "n"]].astype(float).itertuples(index=False, name=None)
    about = (item, f"over {item}s, 95%")
    return [Estimate(value, low, high, int(n) if n == n else 0, *about) for value, low, high, n in bounds]


def sum_over_seeds(
    sides: Sequence[Rows], weights: Sequence[float], item: str, seed: str = "seed", apart: str = ""
) -> Estimate | None:
    """Weighted sum of scores: by t over seeds where there are enough, else over the items of the test set within them.

    Several rows of a side and seed are averaged; they share the items, unless they differ in `apart`. A side with one
    seed (a model that is not trained) stands beside each of the others. Items are drawn of all sides together where
    each has a score of its own (`difference_over_items`). Else the intervals join as if items were drawn apart, which
    makes them wider than pairs of answers would be. None where no seed has all sides.

    Args:
        sides: rows of scores with low, high and n over items, and the column `seed`.
        weights: one of each side; 1 and -1 are a difference.
        item: what the test set consists of, in the singular ("document").
        seed: the column of the seeds.
        apart: a column (data set) whose values have items of their own, and weigh the same.
    """
    runs = [_one_run(run, weights, item, apart) for run in by_unit(sides, seed)]
    return over_seeds(runs, seed.replace("_", " ")) if runs else None


def _one_run(sides: Sequence[Rows], weights: Sequence[float], item: str, apart: str) -> Estimate:
    if apart and (parts := [_one_run(part, weights, item, "") for part in by_unit(sides, apart)]):
        return contrast(parts, [1 / len(parts)] * len(parts), item) if len(parts) > 1 else parts[0]
    if paired := difference_over_items(sides, weights, item):
        return paired
    return contrast([mean_of_shared(scores_of(rows, item)) for rows in sides], weights, item)


def by_unit(sides: Sequence[Rows], unit: str) -> list[list[Rows]]:
    """The rows of each side for every unit that all have; a side with a single unit stands beside each of the rest."""
    parts = [dict(list(side.groupby(unit, sort=True))) for side in sides]
    several = [side for side in parts if len(side) > 1] or parts[:1]
    shared = [one for one in several[0] if all(one in side for side in several)] if all(parts) else []
    return [[side[one] if len(side) > 1 else next(iter(side.values())) for side in parts] for one in shared]


@dataclass(frozen=True)
class Contrast:
    """The value under `first` minus that under `second` of every unit that has both.

    `units` are factors, with spaces between them: one combination is one unit. `estimate` makes an estimate of the
    differences, a series with the units as its index.
    """

    where: Where
    first: Where
    second: Where
    units: str
    estimate: Callable[[Rows], Estimate]

    def selections(self) -> Iterator[Where]:
        """Its selections, to be checked when planning."""
        yield {**self.where, **self.first}
        yield {**self.where, **self.second}

    def __call__(self, frame: Frame) -> Estimate | str:
        first, second = (
            frame.select(**selection).groupby(self.units.split(), sort=False)["value"].mean()
            for selection in self.selections()
        )
        found = (first - second).dropna()
        return self.estimate(found) if len(found) else _reason(frame, self.selections())


@dataclass(frozen=True)
class Paired:
    """Mean over units of the value under `first` minus that under `second`, by t over the paired differences.

    The unit is the outer one of `units`. A side with a single unit (a model that is not trained has one seed) stands
    beside every unit of the other. Where the unit is the seed and there are few, it is the `item` of the test set
    within them (`sum_over_seeds`).
    """

    where: Where
    first: Where
    second: Where
    units: str = "fold seed"
    item: str = "document"

    def selections(self) -> Iterator[Where]:
        """Its selections, to be checked when planning."""
        yield {**self.where, **self.first}
        yield {**self.where, **self.second}

    def __call__(self, frame: Frame) -> Estimate | str:
        sides = [frame.select(**where) for where in self.selections()]
        if any(side.empty for side in sides):
            return _reason(frame, self.selections())
        unit = outer_unit(self.units, *sides)
        if unit == "seed":
            return sum_over_seeds(sides, (1, -1), self.item) or _reason(frame, self.selections())
        one, two = (side.groupby(unit)["value"].mean() for side in sides)
        one, two = (
            mine.reindex(other.index, fill_value=mine.iloc[0]) if len(mine) == 1 else mine
            for mine, other in ((one, two), (two, one))
        )
        one, two = one.align(two, join="inner")
        return difference_over_pairs(one.to_numpy(), two.to_numpy(), unit)


@dataclass(frozen=True)
class Ratio:
    """Sum of a metric over sum of another (`of`), as a loss a token; with `second`, that of `first` minus that of it.

    Units are as in `Paired`: batches within seeds where there are few of these. Outer ones are paired; inner ones are
    where `paired` says that both sides have the same (batches of one text in one encoding). `less` are the metrics of
    `second` where they are others. `times` is 100 for a share in percent.
    """

    of: tuple[str, str]
    first: Where
    second: Where | None = None
    less: tuple[str, str] | None = None
    units: str = "seed batch"
    paired: bool = True
    times: float = 1

    def selections(self) -> Iterator[Where]:
        """Its selections, to be checked when planning."""
        yield {**self.first, "metric": self.of}
        if self.second is not None:
            yield {**self.second, "metric": self.less or self.of}

    def __call__(self, frame: Frame) -> Estimate | str:
        sides = [frame.select(**where) for where in self.selections()]
        if any(side.empty for side in sides):
            return _reason(frame, self.selections())
        outer, inner = self.units.split()[0], self.units.split()[-1]
        unit = outer_unit(self.units, sides[0])
        if unit == inner or sides[0][outer].nunique() >= FEWEST_SEEDS:
            return self._over(sides, unit)
        runs = [self._over(run, inner) for run in by_unit(sides, outer)]
        return over_seeds(runs, outer.replace("_", " ")) if runs else _reason(frame, self.selections())

    def _over(self, sides: Sequence[Rows], unit: str) -> Estimate:
        sums = [side.pivot_table("value", unit, "metric", aggfunc="sum").dropna() for side in sides]
        paired = self.paired or unit != self.units.split()[-1]
        if paired and len(sums) > 1:
            sums = list(sums[0].align(sums[1], join="inner", axis=0))
        ratios = [self._ratio(one, pair) for one, pair in zip(sums, (self.of, self.less or self.of), strict=False)]
        if len(ratios) == 1:
            return ratio_over_units(*ratios[0], unit).times(self.times)
        return ratio_difference(ratios[0], ratios[1], unit, paired=paired).times(self.times)

    @staticmethod
    def _ratio(sums: Rows, pair: tuple[str, str]) -> tuple[Any, Any]:
        return sums[pair[0]].to_numpy(dtype=float), sums[pair[1]].to_numpy(dtype=float)


@dataclass(frozen=True)
class Nearest:
    """A contrast at the value of a factor that is nearest to `number` among the rows that it reads; the smaller of two.

    A row of a neighbour repeats it at a value of its own, to which the frame is narrowed.
    """

    factor: str
    number: float
    find: Ratio

    def selections(self) -> Iterator[Where]:
        """Those of the contrast, at all values."""
        return self.find.selections()

    def __call__(self, frame: Frame) -> Estimate | str:
        known = {value for where in self.selections() for value in frame.select(**where)[self.factor].dropna().tolist()}
        if not known:
            return self.find(frame)
        best = min(known, key=lambda value: (abs(value - self.number), value))
        return self.find(frame.narrowed({self.factor: best}))


def _reason(frame: Frame, selections: Iterator[Where]) -> str:
    """That of the first selection without a value; where all have values, of the first that has a reason."""
    ordered = sorted(selections, key=lambda where: not frame.select(**where).empty)
    return next((reason for where in ordered if (reason := frame.reason(**where))), "")
