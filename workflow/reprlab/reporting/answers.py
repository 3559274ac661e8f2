"""What a paper mainly asks, which claim answers it, and the answer in five words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reprlab.reporting.claims import NOT_TESTABLE
from reprlab.statistics.rules import NOT_SUPPORTED, SUPPORTED

OPEN = "not decided"


@dataclass(frozen=True)
class Answer:
    """One question, its claim, and the answer by the claim's verdict. The first of a paper is its main question; those
    behind it are asked where a run is too small for the main one."""

    asks: str
    claim: str
    yes: str
    """In at most six words, where the claim is supported."""
    no: str
    """The same, where it is not supported."""

    def words(self, verdict: str) -> str:
        """The answer in a few words; "not decided" for any other verdict."""
        return {SUPPORTED: self.yes, NOT_SUPPORTED: self.no}.get(verdict, OPEN)


def asked_here(answers: Sequence[Answer], verdicts: Mapping[str, str]) -> Answer | None:
    """The first question whose claim a run could judge, whatever came of it; None where there is none.

    Args:
        verdicts: by claim.
    """
    judged = (one for one in answers if verdicts.get(one.claim, NOT_TESTABLE) != NOT_TESTABLE)
    return next(judged, None)
