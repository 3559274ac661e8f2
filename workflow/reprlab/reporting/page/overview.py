"""The first table of the page, for someone who has two minutes: what each paper claims, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from reprlab.reporting.answers import asked_here
from reprlab.reporting.audit import VERDICTS as AUDIT_VERDICTS
from reprlab.reporting.benchmarks import of_paper
from reprlab.reporting.claims import VERDICTS as CLAIM_VERDICTS
from reprlab.reporting.cost_layout import TOTAL
from reprlab.reporting.page.claims import claim_id
from reprlab.reporting.page.folder import PaperFolder
from reprlab.reporting.page.html import Html, join, tag
from reprlab.reporting.page.verdicts import ORDERS, STANDING, counts, legend, reference

if TYPE_CHECKING:
    import pandas

NOTHING_TESTED = "Nothing was tested: nano runs a few steps on slices of the data, to see that everything runs."
_TESTED = ("Claims, tested", "Above baselines")
_HEADS = (
    "Paper", "Question and answer", *_TESTED, "Audit of its numbers", "GPU hours as published",
    "Minutes, with shared stages",
)  # fmt: skip


def summary_table(
    papers: Sequence[PaperFolder], jobs: pandas.DataFrame, scale: str, needed: Collection[tuple[str, str]]
) -> pandas.DataFrame:
    """One row per paper (tables made, verdicts, minutes of all stages that it needs and of its own), and one for the
    shared stages.

    Args:
        needed: papers, each with a benchmark file, `<stage>/<job>.tsv`, of a job that its results need.
    """
    import pandas

    rows = []
    own = 0.0
    files = jobs["stage"].astype(str) + "/" + jobs["job"].astype(str) + ".tsv"
    for paper in papers:
        minutes = float(of_paper(jobs, paper.slug)["seconds"].sum()) / 60
        own += minutes
        audit, claims = paper.counts("audit"), paper.counts("claims")
        row = {"paper": paper.slug, "scale": scale, "tables": len(paper.done()), "tables_planned": len(paper.tables)}
        row |= {f"audit_{_name(verdict)}": audit.get(verdict, 0) for verdict in AUDIT_VERDICTS}
        row |= {f"claims_{_name(verdict)}": claims.get(verdict, 0) for verdict in CLAIM_VERDICTS}
        whole = float(jobs.loc[files.isin([file for slug, file in needed if slug == paper.slug]), "seconds"].sum()) / 60
        found = {"minutes": round(max(whole, minutes), 2), "minutes_own": round(minutes, 2)}
        rows.append(row | {_name(name): n for name, n in paper.standing().items()} | found)
    shared = float(jobs["seconds"].sum()) / 60 - own
    rows.append({"paper": "shared stages", "scale": scale, "minutes": math.nan, "minutes_own": round(shared, 2)})
    frame = pandas.DataFrame(rows)
    counted = [column for column in frame if column not in ("paper", "scale", "minutes", "minutes_own")]
    return frame.astype(dict.fromkeys(counted, "Int64"))


def _name(verdict: str) -> str:
    return verdict.replace(" at this scale", "").replace(" the ", " ").replace(" ", "_")


def overview(papers: Sequence[PaperFolder], summary: pandas.DataFrame, *, tested: bool) -> Html:
    """A row for each paper; each claim is a chip that leads to its row. Below it, once, what the signs mean."""
    minutes = dict(zip(summary["paper"], summary["minutes"], strict=True))
    rows = [_row(paper, minutes[paper.slug], tested=tested) for paper in papers]
    head = tag("tr", [tag("th", name, scope="col") for name in _HEADS if tested or name not in _TESTED])
    caption = tag("caption", "A sign is a claim; it leads to its number and rule" if tested else "The papers")
    grid = tag("table", caption, tag("thead", head), tag("tbody", rows), id="table-overview", class_="cards")
    box = tag("div", grid, class_="scroll whole", tabindex="0", role="region", aria_label="Overview")
    orders = [ORDERS["claims"], STANDING, ORDERS["audit"]] if tested else [ORDERS["audit"]]
    meaning = tag("details", tag("summary", "What the signs mean"), [legend(names) for names in orders], open=True)
    return join(None if tested else tag("p", NOTHING_TESTED), box, meaning)


def _row(paper: PaperFolder, minutes: float, *, tested: bool) -> Html:
    claims = paper.read("claims")
    found = [] if claims is None else claims[["id", "verdict", "claim"]].itertuples(index=False, name=None)
    chips = [tag("li", reference(word, f" {id}", f"#{claim_id(paper.slug, id)}", text)) for id, word, text in found]
    judged = [
        tag("ul", counts(paper.counts("claims"), ORDERS["claims"]), class_="chips"),
        tag("details", tag("summary", "each claim"), tag("ul", chips, class_="chips")) if chips else None,
    ]
    return tag(
        "tr",
        tag("td", tag("a", paper.about.TITLE, href=f"#{paper.slug}")),
        tag("td", paper.about.QUESTION, _answer(paper) if tested else None),
        [tag("td", judged), tag("td", tag("ul", counts(paper.standing(), STANDING), class_="chips"))]
        if tested
        else None,
        tag("td", tag("ul", counts(paper.counts("audit"), ORDERS["audit"]), class_="chips")),
        tag("td", published_hours(paper), class_="number", data_label="GPU hours as published"),
        tag("td", f"{minutes:.1f}", class_="number", data_label="minutes"),
    )


def _answer(paper: PaperFolder) -> Html | None:
    """The answer to the first of the paper's questions that this run could judge, in a few words, by its verdict."""
    claims, asked = paper.read("claims"), getattr(paper.about, "ANSWERS", ())
    verdicts = {} if claims is None else dict(zip(claims["id"].astype(str), claims["verdict"], strict=True))
    found = asked_here(asked, verdicts)
    if found is None:
        return tag("p", tag("b", "Not answered at this scale.")) if asked and verdicts else None
    verdict = verdicts[found.claim]
    link = reference(verdict, f" {found.claim}", f"#{claim_id(paper.slug, found.claim)}", found.asks)
    return tag("p", f"{found.asks} ", tag("b", f"{found.words(verdict).capitalize()}. "), link)


def published_hours(paper: PaperFolder) -> str:
    """Hours of one device that the paper's runs take as published, with its name; empty where they are not made."""
    costs = paper.read("cost")
    if costs is None:
        return ""
    totals = costs[(costs["stage"] == TOTAL) & (costs["scale"] == "paper")]
    return "".join(f"{row['device_hours']:,.0f} ({row['name']})" for row in totals.to_dict("records")[:1])
