"""A paper's claims with their verdicts, and the audit of its arithmetic."""

from __future__ import annotations

from typing import Any

from reprlab.reporting.page.attached import attached
from reprlab.reporting.page.folder import PaperFolder
from reprlab.reporting.page.html import Html, join, tag
from reprlab.reporting.page.html_tables import interval, shown, table
from reprlab.reporting.page.verdicts import ORDERS, chip, counts

_HEADS = ("Claim", "Verdict", "Estimate", "Unit", "What was measured, and the rule", "Note")


def claim_id(slug: str, id: object) -> str:
    """The anchor of a claim."""
    return f"{slug}-claim-{id}"


def claims(paper: PaperFolder, *, tested: bool) -> Html | None:
    """The claims, a row each, with their verdicts where the scale tests anything."""
    frame = paper.read("claims")
    if frame is None:
        return None
    records: Any = frame.to_dict("records")
    rows = [_claim(paper.slug, row, tested=tested) for row in records]
    head = tag("tr", [tag("th", name, scope="col") for name in _HEADS if tested or name != "Verdict"])
    grid = tag(
        "table",
        tag("caption", f"Claims of {paper.about.TITLE}"),
        tag("thead", head),
        tag("tbody", rows),
        class_="cards claims",
    )
    return join(
        tag("ul", counts(paper.counts("claims"), ORDERS["claims"]), class_="chips") if tested else None,
        tag("div", grid, class_="scroll", tabindex="0", role="region", aria_label=f"Claims, {paper.slug}"),
    )


def _claim(slug: str, row: dict[str, Any], *, tested: bool) -> Html:
    anchor = claim_id(slug, row["id"])
    unit = " ".join(filter(None, (shown(row.get("units", row.get("n"))), shown(row.get("unit")))))
    ends = interval(row["low"], row["high"])
    estimate = tag(
        "td",
        shown(row["estimate"]),
        tag("small", ends) if ends else None,
        class_="number",
        data_v=shown(row["estimate"]),
    )
    rule = f"Rule: {shown(row['rule'])}." + (f" Interval: {shown(row['interval'])}." if ends else "")
    return tag(
        "tr",
        tag("td", tag("a", str(row["id"]), href=f"#{anchor}"), f" {row['claim']}"),
        tag("td", chip(row["verdict"]), data_v=row["verdict"]) if tested else None,
        estimate,
        tag("td", unit, data_label="unit"),
        tag("td", row["statistic"], tag("small", rule)),
        tag("td", shown(row["note"]), class_="long"),
        id=anchor,
    )


def audit(paper: PaperFolder) -> Html | None:
    """Differences first, then all checks in a fold."""
    frame = paper.read("audit")
    if frame is None:
        return None
    ordered = frame[["id", "verdict", "what", "printed", "recomputed", "note"]]
    differs = ordered[ordered["verdict"] == "differs"]
    id = f"{paper.slug}-checks"
    link = attached(paper.path("audit"), paper.folder)
    return join(
        tag("p", "The paper's numbers against each other, its code and the definitions; no training is needed. ", link),
        tag("ul", counts(paper.counts("audit"), ORDERS["audit"]), class_="chips"),
        table(differs, "What differs", f"{id}-differ", fold=False, cards=True) if len(differs) else None,
        tag(
            "details",
            tag("summary", f"All {len(frame)} checks"),
            table(ordered, "All checks", id, fold=False, cards=True),
        ),
    )
