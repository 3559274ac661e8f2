"""Titles of figures that say what is seen: the words of a claim, by its verdict on the rows behind the figure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reprlab.reporting.claims import TESTS
from reprlab.statistics.rules import INCONCLUSIVE, NOT_SUPPORTED, SUPPORTED

if TYPE_CHECKING:
    from reprlab.results.frame import Frame
    from reprlab.results.records import Figure, PaperResults

_FORMS = {
    SUPPORTED: "{said} ({scale})",
    NOT_SUPPORTED: "Not seen at {scale}: {said}",
    INCONCLUSIVE: "Undecided at {scale}: {said}",
}
_ASIDE = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)$")


def title_of(records: PaperResults, figure: Figure, scale: str, frame: Frame | None = None) -> str:
    """The title of a figure: its claim by its verdict, or its caption where nothing is judged.

    Args:
        records: the paper's.
        figure: one of its figures.
        scale: that of the run.
        frame: the rows that the figure's table selects from; without them nothing is judged.
    """
    if figure.claim and frame is not None and scale != TESTS:
        claim = records.claim(figure.claim)
        row = claim.row(frame.narrowed(records.table(figure.table).where), records.unjudged)
        if "estimate" in row and row["verdict"] in _FORMS:
            return _FORMS[row["verdict"]].format(said=sentence(claim.claim), scale=scale)
    return f"{sentence(figure.caption)} ({scale})"


def sentence(text: str) -> str:
    """Words of a claim or a caption without the place in the paper in brackets behind them, and with a capital."""
    said = _ASIDE.sub("", text.removesuffix("."))
    return said[:1].upper() + said[1:]
