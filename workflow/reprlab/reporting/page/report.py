"""The whole page: what made it, an overview, a fold for each paper, settings, time, data and the graph of stages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.reporting.benchmarks import by_stage
from reprlab.reporting.page.folder import PaperFolder
from reprlab.reporting.page.graph import Edge, draw_graph
from reprlab.reporting.page.html import Html, heading, tag
from reprlab.reporting.page.overview import overview, summary_table
from reprlab.reporting.page.paper import paper_section
from reprlab.reporting.page.run import facts, file_links
from reprlab.reporting.page.script import SCRIPT
from reprlab.reporting.page.style import STYLE
from reprlab.reporting.page.tables import table

if TYPE_CHECKING:
    import pandas

Links = list[tuple[str, str]]
TITLE = "RepL4NLP 2025, run again"


def render(
    papers: Sequence[PaperFolder],
    jobs: pandas.DataFrame,
    data: pandas.DataFrame,
    edges: list[Edge],
    scale: str,
    page: Path,
    changes: Sequence[tuple[str, str, str, str]] | None = None,
    command: str = "",
) -> str:
    """The page as one string that loads nothing; it links to the files beside `page` and to the papers."""
    summary = summary_table(papers, jobs, scale)
    folds = [(paper, *paper_section(paper, jobs, page)) for paper in papers]
    ends = [section for section in (_settings(changes), _stages(jobs), _data(data), _graph(edges)) if section]
    files = file_links(page, [page.parent / "summary.tsv", page.parent / "settings.yaml"])
    header = tag("header", tag("h1", TITLE), facts(papers, scale, command, files))
    first = tag(
        "section",
        heading("h2", "Overview", "overview"),
        tag(
            "p", "A number made at a small scale stands for that scale alone. Every row of every table names its data."
        ),
        overview(papers, summary),
        aria_labelledby="overview",
    )
    main = tag("main", first, [fold for _, fold, _ in folds], [section for _, _, section in ends])
    menu = _contents([(paper, links) for paper, _, links in folds], [(id, title) for id, title, _ in ends])
    body = tag(
        "body",
        tag("a", "Skip to the overview", href="#overview", class_="skip"),
        menu,
        header,
        main,
        tag(
            "footer",
            tag("p", "This file loads nothing from anywhere; its links lead to the files beside it and to the papers."),
        ),
        tag(
            "dialog",
            tag("p", "The rows and columns that are shown, as LaTeX:"),
            tag("textarea", readonly=True, aria_label="LaTeX"),
            id="latex",
        ),
        tag("script", Html(SCRIPT)),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{TITLE}: scale {scale}"),
        tag("style", Html(STYLE)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _contents(papers: Sequence[tuple[PaperFolder, Links]], ends: Links) -> Html:
    """Contents that stay in view: a column at the side, or a bar above on narrow screens."""
    items = [tag("li", tag("a", "Overview", href="#overview"))]
    for paper, links in papers:
        below = tag("ul", [tag("li", tag("a", title, href=f"#{id}")) for id, title in links])
        items.append(tag("li", tag("a", paper.slug, href=f"#{paper.slug}"), below, data_paper=paper.slug))
    items += [tag("li", tag("a", title, href=f"#{id}")) for id, title in ends]
    fold = tag("details", tag("summary", "Contents"), tag("ul", items), id="contents", open=True)
    return tag(
        "nav", fold, tag("button", "Dark colours", id="theme", type="button", hidden=True), aria_label="Contents"
    )


def _section(id: str, title: str, *content: object) -> tuple[str, str, Html]:
    return id, title, tag("section", heading("h2", title, id), content, aria_labelledby=id)


def _settings(changes: Sequence[tuple[str, str, str, str]] | None) -> tuple[str, str, Html] | None:
    import pandas

    if changes is None:
        return None
    said = f"{len(changes)} settings are not as published, by the scale or by who ran this; settings.yaml has all."
    rows = pandas.DataFrame(changes, columns=["paper", "setting", "published", "here"])
    grid = table(rows, "Settings that differ from the published ones", "table-settings", fold=False, cards=True)
    return _section("settings", "Settings", tag("p", said), grid if len(rows) else None)


def _stages(jobs: pandas.DataFrame) -> tuple[str, str, Html] | None:
    if jobs.empty:
        return None
    grid = table(by_stage(jobs), "Seconds and peak memory (MB) of all stages", "table-stages", fold=False)
    return _section("stages", "Time and memory", grid)


def _data(data: pandas.DataFrame) -> tuple[str, str, Html] | None:
    if data.empty:
        return None
    grid = table(data, "Archives that this run read", "table-data", fold=False)
    return _section("data", "Data and licences", grid)


def _graph(edges: list[Edge]) -> tuple[str, str, Html] | None:
    if not edges:
        return None
    listed = tag("ul", [tag("li", f"{source} feeds {target}") for source, target in edges])
    drawn = tag("div", draw_graph(edges), class_="graph")
    return _section("graph", "Graph of stages", drawn, tag("details", tag("summary", "The same as a list"), listed))
