"""Claims: a direction with a rule that is written before the number is seen, and the verdict that follows from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from reprlab.artifacts.tables import write_tsv
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics.estimates import Estimate
from reprlab.statistics.rules import ABOVE_ZERO as ABOVE_ZERO
from reprlab.statistics.rules import BELOW_ZERO as BELOW_ZERO
from reprlab.statistics.rules import INCONCLUSIVE, NOT_SUPPORTED, SUPPORTED, Rule, judge

NOT_TESTABLE = "not testable at this scale"
VERDICTS = (SUPPORTED, NOT_SUPPORTED, INCONCLUSIVE, NOT_TESTABLE)


@dataclass(frozen=True)
class ClaimRow:
    """One claim with its evidence. `units` counts what the interval is over, `unit` names one of them."""

    id: str
    claim: str
    rule: str
    statistic: str
    estimate: float | None
    low: float | None
    high: float | None
    interval: str
    unit: str
    units: int | None
    verdict: str
    note: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ReprlabError(f"claim {self.id}: '{self.verdict}' is none of {', '.join(VERDICTS)}")


COLUMNS = tuple(ClaimRow.__dataclass_fields__)


def decide(
    id: str, claim: str, rule: Rule, statistic: str, estimate: Estimate, interval: str = "", note: str = ""
) -> ClaimRow:
    """A row whose verdict follows from the rule. `interval` names that of an estimate which does not know its own."""
    found = judge(estimate, rule, note)
    return ClaimRow(
        id,
        claim,
        found.rule,
        statistic,
        found.estimate,
        found.low,
        found.high,
        found.interval or interval,
        found.unit,
        found.n_units,
        found.verdict,
        found.note,
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
        found.unit,
        found.n or None,
        NOT_TESTABLE,
        note,
    )


def missing(id: str, claim: str, rule: Rule, statistic: str, note: str) -> ClaimRow:
    """A row without evidence because its runs were left out."""
    return ClaimRow(id, claim, rule.describe(), statistic, None, None, None, "", "", None, INCONCLUSIVE, note)


def write_claims(path: Path, rows: Iterable[ClaimRow]) -> None:
    """Write the claims in the given order.

    Raises:
        ReprlabError: two rows have one id.
    """
    import pandas

    frame = pandas.DataFrame([asdict(row) for row in rows], columns=list(COLUMNS))
    if frame["id"].duplicated().any():
        raise ReprlabError(f"{path}: two claims have the id {frame['id'][frame['id'].duplicated()].iloc[0]}")
    write_tsv(path, frame.astype({"units": "Int64"}))
