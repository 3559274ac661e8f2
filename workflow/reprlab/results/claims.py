"""A claim as a record: what is measured, the rule that decides, and the scales at which it can be judged at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reprlab.reporting.claims import ClaimRow, Rule, decide, missing, not_testable
from reprlab.reporting.intervals import Estimate
from reprlab.results.frame import Choice, Frame

Rows = Any


@dataclass(frozen=True)
class Evidence:
    """An estimate, the name of its interval, and what a reader must know of it."""

    estimate: Estimate
    interval: str
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """A direction that the paper states.

    `find` gives the evidence, or in words why there is none: a record (`Contrast`) or a function of the frame.
    `only_at` names the scales at which the claim can be judged; elsewhere the number is reported, and `because` (the
    specification's section 6) says why it decides nothing.
    """

    id: str
    claim: str
    statistic: str
    rule: Rule
    find: Callable[[Frame], Evidence | str]
    only_at: tuple[str, ...] = ()
    because: str = ""

    def judge(self, frame: Frame, unjudged: Mapping[str, str]) -> ClaimRow:
        """The row of the claim. `unjudged` are scales at which no claim of the paper is judged, with the reason."""
        found = self.find(frame)
        if isinstance(found, Evidence) and math.isnan(found.estimate.value):
            found = f"not run at scale {frame.scale}"
        about = (self.id, self.claim, self.rule, self.statistic)
        reason = unjudged.get(frame.scale, "")
        if self.only_at and frame.scale not in self.only_at:
            reason = self.because
        if isinstance(found, str):
            return not_testable(*about, None, f"{reason}; {found}") if reason else missing(*about, found)
        if reason:
            return not_testable(*about, found.estimate, "; ".join(filter(None, (reason, found.note))))
        return decide(*about, found.estimate, found.interval, found.note)


def judge_all(claims: Sequence[Claim], frame: Frame, unjudged: Mapping[str, str]) -> list[ClaimRow]:
    """The rows of all claims, in their order."""
    return [claim.judge(frame, unjudged) for claim in claims]


@dataclass(frozen=True)
class Contrast:
    """Mean over units of the value under `first` minus that under `second`, with an interval over the units.

    `units` are factors, with spaces between them: a unit is one combination that has both values. `mean` of statistics
    gives the interval.
    """

    where: Mapping[str, Choice]
    first: Mapping[str, Choice]
    second: Mapping[str, Choice]
    units: str
    mean: Callable[[Sequence[float], str], Evidence]
    note: Callable[[Frame], str] = field(default=lambda frame: f"scale {frame.scale}")

    def selections(self) -> Iterator[Mapping[str, Choice]]:
        """What it selects, to be checked when planning."""
        yield {**self.where, **self.first}
        yield {**self.where, **self.second}

    def __call__(self, frame: Frame) -> Evidence | str:
        found = self.differences(frame)
        if not len(found):
            return frame.reason(**{**self.where, **self.first}) or f"not run at scale {frame.scale}"
        evidence = self.mean(found.tolist(), self.units)
        return Evidence(evidence.estimate, evidence.interval, self.note(frame))

    def differences(self, frame: Frame) -> Rows:
        """The difference of every unit that has both values."""
        keys = self.units.split()
        first, second = (
            frame.select(**{**self.where, **side}).groupby(keys, sort=False)["value"].mean()
            for side in (self.first, self.second)
        )
        return (first - second).dropna()
