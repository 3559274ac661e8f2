"""The whole page: summary, one section per paper, shared stages, data and the graph of stages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.json_files import read_json
from reprlab.reporting.audit import VERDICTS as AUDIT_VERDICTS
from reprlab.reporting.benchmarks import by_stage, of_paper
from reprlab.reporting.claims import VERDICTS as CLAIM_VERDICTS
from reprlab.reporting.page.graph import Edge, draw_graph
from reprlab.reporting.page.html import Html, join, tag
from reprlab.reporting.page.paper import PaperFolder, paper_section
from reprlab.reporting.page.style import SCRIPT, STYLE
from reprlab.reporting.page.tables import table, verdict

if TYPE_CHECKING:
    import pandas


def summary_table(papers: Sequence[PaperFolder], jobs: pandas.DataFrame, scale: str) -> pandas.DataFrame:
    """One row per paper (tables made, verdicts, minutes of its own stages), and one for the shared stages."""
    import pandas

    rows = []
    own = 0.0
    for paper in papers:
        minutes = float(of_paper(jobs, paper.slug)["seconds"].sum()) / 60
        own += minutes
        audit, claims = paper.counts("audit"), paper.counts("claims")
        row = {"paper": paper.slug, "scale": scale, "tables": len(paper.done()), "tables_planned": len(paper.tables)}
        row |= {f"audit_{_name(verdict)}": audit.get(verdict, 0) for verdict in AUDIT_VERDICTS}
        row |= {f"claims_{_name(verdict)}": claims.get(verdict, 0) for verdict in CLAIM_VERDICTS}
        rows.append(row | {"minutes": round(minutes, 2)})
    shared = float(jobs["seconds"].sum()) / 60 - own
    rows.append({"paper": "shared stages", "scale": scale, "minutes": round(shared, 2)})
    frame = pandas.DataFrame(rows)
    counts = [column for column in frame if column not in ("paper", "scale", "minutes")]
    return frame.astype(dict.fromkeys(counts, "Int64"))


def _name(verdict: str) -> str:
    return verdict.replace(" at this scale", "").replace(" ", "_")


def render(
    papers: Sequence[PaperFolder], jobs: pandas.DataFrame, receipts: Sequence[Path], edges: list[Edge], scale: str
) -> str:
    """The page as one string that refers to nothing outside itself."""
    summary = summary_table(papers, jobs, scale)
    sections = [
        tag(
            "section",
            tag("h2", "Summary", id="summary-title"),
            tag(
                "p",
                "A number made at a small scale stands for that scale alone. Every row of every table names its data.",
            ),
            _summary(papers, summary),
            id="summary",
            aria_labelledby="summary-title",
        ),
        [paper_section(paper, jobs) for paper in papers],
        _stages(jobs),
        _data(receipts),
        _graph(edges),
    ]
    links = [("summary", "Summary"), *((paper.slug, paper.about.TITLE.partition(":")[0]) for paper in papers)]
    links += [("stages", "Time and memory"), ("data", "Data"), ("graph", "Graph of stages")]
    present = join(sections)
    menu = [tag("li", tag("a", name, href=f"#{id}")) for id, name in links if f'id="{id}"' in present]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"Report of the {scale} run"),
        tag("style", Html(STYLE)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the summary", href="#summary", class_="skip"),
        tag(
            "header",
            tag("h1", "RepL4NLP 2025, run again"),
            tag("p", f"Scale of this run: {scale}."),
            tag("nav", tag("ul", menu), aria_label="Sections"),
        ),
        tag("main", present),
        tag("footer", tag("p", "Made by the workflow; this file needs no network.")),
        tag("script", Html(SCRIPT)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _summary(papers: Sequence[PaperFolder], summary: pandas.DataFrame) -> Html:
    """The summary for readers: verdicts counted in words; summary.tsv has them in columns."""
    titles = {paper.slug: paper.about.TITLE for paper in papers}
    head = tag("tr", [tag("th", name, scope="col") for name in ("Paper", "Tables", "Audit", "Claims", "Minutes")])
    rows = []
    for row in summary.to_dict("records"):
        slug = row["paper"]
        minutes = tag("td", f"{row['minutes']:.1f}", class_="number")
        if slug not in titles:
            rows.append(tag("tr", tag("th", slug.capitalize(), scope="row"), tag("td", colspan=3), minutes))
            continue
        name = tag("th", tag("a", titles[slug], href=f"#{slug}"), scope="row", class_="title")
        tables = tag("td", f"{row['tables']} of {row['tables_planned']}")
        audit = tag("td", [_count(row[f"audit_{_name(one)}"], one) for one in AUDIT_VERDICTS])
        claims = tag("td", [_count(row[f"claims_{_name(one)}"], one) for one in CLAIM_VERDICTS])
        rows.append(tag("tr", name, tables, audit, claims, minutes))
    caption = tag("caption", "Tables made, verdicts counted, minutes of a paper's own stages and of the shared ones")
    return tag(
        "div",
        tag("table", caption, tag("thead", head), tag("tbody", rows), id="table-summary"),
        class_="scroll summary",
        tabindex="0",
        role="region",
        aria_label="Summary",
    )


def _count(number: int, name: str) -> Html:
    return tag("div", verdict(name, f"{number} {name}"))


def _stages(jobs: pandas.DataFrame) -> Html | None:
    if jobs.empty:
        return None
    return _section(
        "stages", "Time and memory of all stages", table(by_stage(jobs), "Seconds and peak memory (MB)", "table-stages")
    )


def _data(receipts: Sequence[Path]) -> Html | None:
    import pandas

    if not receipts:
        return None
    records = [read_json(path) for path in receipts]
    names = ("archive", "licence", "file", "bytes", "sha256")
    rows = pandas.DataFrame([[record.get(name, "") for name in names] for record in records], columns=list(names))
    return _section("data", "Data used, and licences", table(rows, "Archives that this run read", "table-data"))


def _graph(edges: list[Edge]) -> Html | None:
    if not edges:
        return None
    listed = tag("ul", [tag("li", f"{source} feeds {target}") for source, target in edges])
    return _section(
        "graph",
        "Graph of stages",
        tag("div", draw_graph(edges), class_="graph", tabindex="0", role="region", aria_label="Graph of stages"),
        tag("details", tag("summary", "The same as a list"), listed),
    )


def _section(id: str, title: str, *content: object) -> Html:
    return tag("section", tag("h2", title, id=f"{id}-title"), content, id=id, aria_labelledby=f"{id}-title")
