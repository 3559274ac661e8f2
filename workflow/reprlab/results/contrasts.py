"""Contrasts that claims are decided by, as records: two selections, their pairing, and the unit of the interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reprlab.results.frame import Choice, Frame, Rows
from reprlab.statistics import Estimate, difference_over_pairs, ratio_difference, ratio_over_units

Where = Mapping[str, Choice]


def outer_unit(units: str, *sides: Rows) -> str:
    """The first of `units` (outer ones first, spaces between them) that has several values on a side, else the last."""
    names = units.split()
    return next((name for name in names if max(side[name].nunique() for side in sides) > 1), names[-1])


def scores_of(rows: Rows) -> list[Estimate]:
    """An estimate of each score, with its interval over examples."""
    bounds = rows[["value", "low", "high", "n"]].itertuples(index=False, name=None)
    return [Estimate(value, low, high, int(n), "example", "over examples, 95%") for value, low, high, n in bounds]


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
    beside every unit of the other.
    """

    where: Where
    first: Where
    second: Where
    units: str = "fold seed"

    def selections(self) -> Iterator[Where]:
        """Its selections, to be checked when planning."""
        yield {**self.where, **self.first}
        yield {**self.where, **self.second}

    def __call__(self, frame: Frame) -> Estimate | str:
        sides = [frame.select(**where) for where in self.selections()]
        if any(side.empty for side in sides):
            return _reason(frame, self.selections())
        unit = outer_unit(self.units, *sides)
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

    Units are as in `Paired`. Outer ones are paired; inner ones are where `paired` says that both sides have the same
    (batches of one text in one encoding). `less` are the metrics of `second` where they are others. `times` is 100 for
    a share in percent.
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
        unit = outer_unit(self.units, sides[0])
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


def _reason(frame: Frame, selections: Iterator[Where]) -> str:
    """That of the first selection without a value; where all have values, of the first that has a reason."""
    ordered = sorted(selections, key=lambda where: not frame.select(**where).empty)
    return next((reason for where in ordered if (reason := frame.reason(**where))), "")
