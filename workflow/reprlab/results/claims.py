"""A claim as a record: what is measured, the rule that decides, and the scales at which it can be judged at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reprlab.reporting.claims import NOT_TESTABLE
from reprlab.results.frame import Choice, Frame, Rows
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics import Estimate, Rule, difference_over_pairs, judge

_JUDGED = ("estimate", "low", "high", "interval", "unit", "n_units")


@dataclass(frozen=True)
class Claim:
    """A direction that the paper states.

    `find` gives the estimate with its unit, or in words why there is none: a record (`Contrast`) or a function of the
    frame. `only_at` names the scales at which the claim can be judged; elsewhere the number is reported, and `because`
    (the specification's section 6) says why it decides nothing. A function that finds on its own that its number
    decides nothing raises `NoVerdict`.
    """

    id: str
    claim: str
    statistic: str
    rule: Rule
    find: Callable[[Frame], Estimate | str]
    only_at: tuple[str, ...] = ()
    because: str = ""
    note: Callable[[Frame], str] = lambda frame: f"scale {frame.scale}"

    def row(self, frame: Frame, unjudged: Mapping[str, str]) -> dict[str, Any]:
        """The row of the claim. `unjudged` are scales at which no claim of the paper is judged, with the reason."""
        reason = self.because if self.only_at and frame.scale not in self.only_at else unjudged.get(frame.scale, "")
        try:
            found = self.find(frame)
        except NoVerdict as none:
            found, reason = none.estimate, reason or none.reason
        row: dict[str, Any] = {"id": self.id, "claim": self.claim, "rule": self.rule.describe()}
        row |= {"statistic": self.statistic, "verdict": NOT_TESTABLE if reason else "inconclusive"}
        if isinstance(found, str) or math.isnan(found.value):
            why = found if isinstance(found, str) else found.note
            return row | {"note": _joined(reason, why or f"not run at scale {frame.scale}")}
        verdict = asdict(judge(found, self.rule, self.note(frame)))
        row |= {name: verdict[name] for name in _JUDGED}
        if reason:
            return row | {
                "interval": _joined(verdict["interval"], "reported, not judged"),
                "note": _joined(reason, verdict["note"]),
            }
        return row | {"verdict": verdict["verdict"], "note": verdict["note"]}


class NoVerdict(Exception):  # noqa: N818 (an outcome, no error)
    """A number that decides nothing whatever it is, and why: too few units for any verdict, or an identity."""

    def __init__(self, estimate: Estimate, reason: str) -> None:
        super().__init__(reason)
        self.estimate, self.reason = estimate, reason


def claims_table(claims: Sequence[Claim], frame: Frame, unjudged: Mapping[str, str]) -> Rows:
    """The table `claims`: one row each, in their order; `units` counts the units of the interval, and `unit` is one.

    Raises:
        ReprlabError: two claims have one id.
    """
    ids = [claim.id for claim in claims]
    if twice := sorted({id for id in ids if ids.count(id) > 1}):
        raise ReprlabError(f"two claims have the id {twice[0]}; rename one of them")
    columns = ["id", "claim", "rule", "statistic", "estimate", "low", "high", "interval", "unit", "n_units"]
    rows = [claim.row(frame, unjudged) for claim in claims]
    table = type(frame.rows)(rows, columns=[*columns, "verdict", "note"])
    return table.astype({"n_units": "Int64"}).rename(columns={"n_units": "units"})


@dataclass(frozen=True)
class Contrast:
    """The value under `first` minus that under `second` of every unit that has both.

    `units` are factors, with spaces between them: one combination is one unit. `estimate` makes an estimate of the
    differences, a series with the units as its index.
    """

    where: Mapping[str, Choice]
    first: Mapping[str, Choice]
    second: Mapping[str, Choice]
    units: str
    estimate: Callable[[Rows], Estimate]

    def selections(self) -> Iterator[Mapping[str, Choice]]:
        """What it selects, to be checked when planning."""
        yield {**self.where, **self.first}
        yield {**self.where, **self.second}

    def __call__(self, frame: Frame) -> Estimate | str:
        first, second = (
            frame.select(**selection).groupby(self.units.split(), sort=False)["value"].mean()
            for selection in self.selections()
        )
        found = (first - second).dropna()
        if len(found):
            return self.estimate(found)
        return next((reason for one in self.selections() if (reason := frame.reason(**one))), "")


@dataclass(frozen=True)
class Paired:
    """Mean over units of the value under `first` minus that under `second`, by t over the paired differences.

    The unit is the first of `units` (outer ones first, with spaces between them) that has several values, else the
    last. A side with a single unit (a model that is not trained has one seed) stands beside every unit of the other.
    """

    where: Mapping[str, Choice]
    first: Mapping[str, Choice]
    second: Mapping[str, Choice]
    units: str = "fold seed"

    def selections(self) -> Iterator[Mapping[str, Choice]]:
        """What it selects, to be checked when planning."""
        yield {**self.where, **self.first}
        yield {**self.where, **self.second}

    def __call__(self, frame: Frame) -> Estimate | str:
        sides = [frame.select(**where) for where in self.selections()]
        if any(side.empty for side in sides):
            found = next((reason for where in self.selections() if (reason := frame.reason(**where))), "")
            return found or f"not run at scale {frame.scale}"
        names = self.units.split()
        several = [name for name in names if max(side[name].nunique() for side in sides) > 1]
        unit = (several or names)[0 if several else -1]
        one, two = (side.groupby(unit)["value"].mean() for side in sides)
        one, two = (
            mine.reindex(other.index, fill_value=mine.iloc[0]) if len(mine) == 1 else mine
            for mine, other in ((one, two), (two, one))
        )
        one, two = one.align(two, join="inner")
        return difference_over_pairs(one.to_numpy(), two.to_numpy(), unit)


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
