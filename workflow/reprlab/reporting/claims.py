"""Claims: a direction with a rule that is written before the number is seen, and the verdict that follows from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from reprlab.artifacts.tables import write_tsv
from reprlab.reporting.intervals import Estimate
from reprlab.runtime.errors import ReprlabError

SUPPORTED = "supported"
NOT_SUPPORTED = "not supported"
INCONCLUSIVE = "inconclusive"
NOT_TESTABLE = "not testable at this scale"
VERDICTS = (SUPPORTED, NOT_SUPPORTED, INCONCLUSIVE, NOT_TESTABLE)
COLUMNS = ("id", "claim", "rule", "statistic", "estimate", "low", "high", "interval", "n", "verdict", "note")


@dataclass(frozen=True)
class Rule:
    """Supported where the whole interval lies in [`low`, `high`], not supported where all of it lies outside."""

    low: float = -math.inf
    high: float = math.inf

    def describe(self) -> str:
        """The rule in words, as the `rule` column shows it."""
        if self in (ABOVE_ZERO, BELOW_ZERO):
            inside = "above 0" if self == ABOVE_ZERO else "below 0"
        elif math.isinf(self.low):
            inside = f"at or below {self.high:g}"
        elif math.isinf(self.high):
            inside = f"at or above {self.low:g}"
        else:
            inside = f"between {self.low:g} and {self.high:g}"
        return f"supported if the whole interval is {inside}, not supported if none of it is, else inconclusive"

    def judge(self, estimate: Estimate) -> str:
        """The verdict; an estimate without interval decides nothing."""
        if math.isnan(estimate.low) or math.isnan(estimate.high):
            return INCONCLUSIVE
        if self.low <= estimate.low and estimate.high <= self.high:
            return SUPPORTED
        return NOT_SUPPORTED if estimate.high < self.low or estimate.low > self.high else INCONCLUSIVE


# A difference of nothing, as between two models that answer alike, is neither.
ABOVE_ZERO, BELOW_ZERO = Rule(low=1e-9), Rule(high=-1e-9)


@dataclass(frozen=True)
class ClaimRow:
    """One claim with its evidence. `n` counts the units of the interval."""

    id: str
    claim: str
    rule: str
    statistic: str
    estimate: float | None
    low: float | None
    high: float | None
    interval: str
    n: int | None
    verdict: str
    note: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ReprlabError(f"claim {self.id}: '{self.verdict}' is none of {', '.join(VERDICTS)}")


def decide(
    id: str, claim: str, rule: Rule, statistic: str, estimate: Estimate, interval: str, note: str = ""
) -> ClaimRow:
    """A row whose verdict follows from the rule."""
    return ClaimRow(
        id,
        claim,
        rule.describe(),
        statistic,
        estimate.value,
        estimate.low,
        estimate.high,
        interval,
        estimate.n,
        rule.judge(estimate),
        note,
    )


def not_testable(id: str, claim: str, rule: Rule, statistic: str, estimate: Estimate | None, note: str) -> ClaimRow:
    """A row for what this scale cannot show; the number is reported all the same where there is one."""
    found = estimate or Estimate(math.nan, math.nan, math.nan, 0)
    return ClaimRow(
        id,
        claim,
        rule.describe(),
        statistic,
        found.value,
        found.low,
        found.high,
        "reported, not judged" if estimate else "",
        found.n or None,
        NOT_TESTABLE,
        note,
    )


def missing(id: str, claim: str, rule: Rule, statistic: str, note: str) -> ClaimRow:
    """A row without evidence because its runs were left out."""
    return ClaimRow(id, claim, rule.describe(), statistic, None, None, None, "", None, INCONCLUSIVE, note)


def write_claims(path: Path, rows: Iterable[ClaimRow]) -> None:
    """Write the claims in the given order.

    Raises:
        ReprlabError: two rows have one id.
    """
    import pandas

    frame = pandas.DataFrame([asdict(row) for row in rows], columns=list(COLUMNS))
    if frame["id"].duplicated().any():
        raise ReprlabError(f"{path}: two claims have the id {frame['id'][frame['id'].duplicated()].iloc[0]}")
    write_tsv(path, frame.astype({"n": "Int64"}))
