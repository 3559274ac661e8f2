"""A claim as a record: what is measured, the rule that decides, and the scales at which it can be judged at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from reprlab.reporting.claims import NOT_TESTABLE
from reprlab.results.frame import Choice, Frame, Rows
from reprlab.results.twins import Twin
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics import Estimate, Rule, judge
from reprlab.statistics.power import decided_effect

Find = Callable[[Frame], Estimate | str]
_JUDGED = ("estimate", "low", "high", "interval", "unit", "n_units")


def _about_scale(frame: Frame) -> str:
    return f"scale {frame.scale}"


@dataclass(frozen=True)
class Claim:
    """What a paper claims, in our words and with its place in the paper, and the statistic and the rule that judge it.

    `find` gives the estimate with its unit, or in words why there is none: a record (`reprlab.results.contrasts`) or a
    function. It and `note` get the rows of `where`; without any, `find` is not asked, and the reason is that of the
    rows. `only_at` names the scales at which the claim can be judged; elsewhere the number is reported, and `because`
    (the specification's section 6) says why it decides nothing. A function that finds on its own that its number
    decides nothing raises `NoVerdict`.
    """

    id: str
    claim: str
    statistic: str
    rule: Rule
    find: Find
    where: Mapping[str, Choice] = field(default_factory=dict)
    only_at: tuple[str, ...] = ()
    because: str = ""
    note: Callable[[Frame], str] = _about_scale

    def selections(self) -> list[Mapping[str, Choice]]:
        """The rows that it reads: those of `where`, and among them of each side where the statistic is a record."""
        sides: list[Mapping[str, Choice]] = list(getattr(self.find, "selections", lambda: [{}])())
        return [{**self.where, **one} for one in sides]

    def row(self, frame: Frame, unjudged: Mapping[str, str]) -> dict[str, Any]:
        """The row of the claim. `unjudged` are scales at which no claim of the paper is judged, with the reason."""
        reason = self.because if self.only_at and frame.scale not in self.only_at else unjudged.get(frame.scale, "")
        chosen = frame.narrowed(self.where)
        found: Estimate | str = frame.reason(**self.where) if self.where else ""
        try:
            found = self.find(chosen) if len(chosen.select()) else found
        except NoVerdict as none:
            found, reason = none.estimate, reason or none.reason
        row: dict[str, Any] = {"id": self.id, "claim": self.claim, "rule": self.rule.describe()}
        row |= {"statistic": self.statistic, "verdict": NOT_TESTABLE if reason else "inconclusive"}
        if isinstance(found, str) or math.isnan(found.value):
            why = found if isinstance(found, str) else found.note if found.n else ""
            return row | {"note": _joined(reason, why or f"not run at scale {frame.scale}")}
        verdict = asdict(judge(found, self.rule, self.note(chosen)))
        row |= {name: verdict[name] for name in _JUDGED} | {"power": decided_effect(found)}
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


def claims_table(
    claims: Sequence[Claim], frame: Frame, unjudged: Mapping[str, str], twins: Sequence[Twin] = ()
) -> Rows:
    """The table `claims`: one row each, in their order; `units` counts the units of the interval, and `unit` is one.
    `power` is the smallest effect, as a distance from the rule's bound, that four of five such runs would support;
    `twin` is what learnt nothing and stands on the other side, or why nothing does.

    Raises:
        ReprlabError: two claims have one id.
    """
    ids = [claim.id for claim in claims]
    if twice := sorted({id for id in ids if ids.count(id) > 1}):
        raise ReprlabError(f"two claims have the id {twice[0]}; rename one of them")
    columns = ["id", "claim", "rule", "statistic", "estimate", "low", "high", "interval", "unit", "n_units", "power"]
    named = {id: twin.words for twin in twins for id in twin.claims}
    rows = [claim.row(frame, unjudged) | {"twin": named.get(claim.id, "")} for claim in claims]
    table = type(frame.rows)(rows, columns=[*columns, "verdict", "twin", "note"])
    return table.astype({"n_units": "Int64"}).rename(columns={"n_units": "units"})


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
