"""What verdicts depend on, as `sensitivity.tsv` of a run says it."""

from __future__ import annotations

import math
from typing import Any

from reprlab.reporting.claims import NOT_TESTABLE
from reprlab.results.digits import sensible
from reprlab.results.frame import Rows

COLUMNS = ("id", "variation", "settings", "reason", "estimate_run", "verdict_run", "estimate_before",
           "verdict_before", "estimate", "low", "high", "verdict", "turns", "words", "note")  # fmt: skip
NOTHING, OTHER_RUN = "nothing that was varied", "not known: sensitivity.tsv is of other results; make it again"


def turned(here: str, other: str) -> str:
    """yes or no; empty where one of the two verdicts judges nothing."""
    return "" if NOT_TESTABLE in (here, other) else "yes" if here != other else "no"


def with_dependence(claims: Rows, varied: Rows | None) -> Rows:
    """The table of claims with the column `depends_on`: the words of the variations under which its verdict turns.

    Empty where nothing was varied or judged. Estimates of another run than the claims' say nothing of them.

    Args:
        claims: the table.
        varied: sensitivity.tsv of the same run; None: nothing was varied.
    """
    found = [""] * len(claims) if varied is None else [_words(row, varied) for row in claims.to_dict("records")]
    place = list(claims).index("note")
    claims = claims.copy()
    claims.insert(place, "depends_on", found)
    return claims


def _words(claim: dict[str, Any], varied: Rows) -> str:
    rows = varied[varied["id"] == claim["id"]]
    if not len(rows):
        return ""
    own, known = claim["estimate"], rows["estimate_run"].iloc[0]
    same = _missing(own) == _missing(known) and (_missing(own) or math.isclose(sensible(own), known, rel_tol=1e-9))
    if not same or rows["verdict_run"].iloc[0] != claim["verdict"]:
        return OTHER_RUN
    turns = rows[rows["turns"] == "yes"]
    if len(turns):
        said = zip(turns["words"], turns["estimate"], turns["verdict"], strict=True)
        return "; ".join(f"{words}: {verdict}" + _number(value) for words, value, verdict in said)
    return NOTHING if (rows["turns"] == "no").any() else ""


def _number(value: Any) -> str:
    return "" if _missing(value) else f", {value:.4g}"


def _missing(value: Any) -> bool:
    return value is None or value != value
