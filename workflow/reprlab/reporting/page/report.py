"""The whole page: what made it, an overview, a fold for each paper, settings, time, data and the graph of stages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.reporting.benchmarks import by_stage
from reprlab.reporting.claims import TESTS
from reprlab.reporting.page.attached import attached
from reprlab.reporting.page.folder import PaperFolder
from reprlab.reporting.page.graph import Edge, draw_graph
from reprlab.reporting.page.html import tag
from reprlab.reporting.page.html_tables import table
from reprlab.reporting.page.overview import overview
from reprlab.reporting.page.paper import paper_section
from reprlab.reporting.page.run import facts
from reprlab.reporting.page.shell import Section, document, entry, section
from reprlab.reporting.page.verdicts import ORDERS, legend

if TYPE_CHECKING:
    import pandas

TITLE = "RepL4NLP 2025, reproduced"
# Columns of neighbours.tsv that a reader of the page wants; the file, which travels in it, has all.
_RIVALS = (
    "paper", "neighbour", "method", "measure", "method_value", "neighbour_value", "difference", "low", "high",
    "verdict", "method_parameters", "neighbour_parameters", "method_cpu_seconds", "neighbour_cpu_seconds", "seeds",
    "unit", "scale", "note",
)  # fmt: skip


def render(
    papers: Sequence[PaperFolder],
    jobs: pandas.DataFrame,
    data: pandas.DataFrame,
    edges: list[Edge],
    summary: pandas.DataFrame,
    page: Path,
    changes: Sequence[tuple[str, str, str, str]] | None = None,
    command: str = "",
    neighbours: pandas.DataFrame | None = None,
) -> str:
    """The page as one string that loads nothing; the files beside `page` that it names travel inside."""
    scale = str(summary["scale"].iloc[0])
    tested = scale != TESTS
    folds = [(paper, *paper_section(paper, jobs, tested=tested)) for paper in papers]
    parts = (_neighbours(neighbours), _settings(changes), _stages(jobs), _data(data), _graph(edges))
    ends = [section for section in parts if section]
    names = ("summary.tsv", "neighbours.tsv", "settings.yaml")
    beside = [attached(page.parent / name, page.parent) for name in names]
    header = tag("header", tag("h1", TITLE), facts(papers, scale, command, [file for file in beside if file]))
    said = "A number made at a small scale stands for that scale alone. Every row of every table names its data."
    first = section("overview", "Overview", tag("p", said), overview(papers, summary, tested=tested))
    contents = [
        entry(*first[:2]),
        *(entry(paper.slug, paper.slug, links, data_paper=paper.slug) for paper, _, links in folds),
        *(entry(id, title) for id, title, _ in ends),
    ]
    main = [first[2], *(fold for _, fold, _ in folds), *(end for _, _, end in ends)]
    return document(f"{TITLE}: scale {scale}", contents, header, main)


def _neighbours(rows: pandas.DataFrame | None) -> Section | None:
    if rows is None or rows.empty:
        return None
    said = (
        "Published rivals of the papers' methods, on the same data, budget and seeds. A difference is the neighbour's "
    )
    said += "value less the method's; costs are those of all seeds together."
    shown = rows[[name for name in _RIVALS if name in rows]]
    grid = table(shown, "Methods and their neighbours", "table-neighbours")
    return section("neighbours", "Neighbours", tag("p", said), grid, legend(ORDERS["neighbours"]))


def _settings(changes: Sequence[tuple[str, str, str, str]] | None) -> Section | None:
    import pandas

    if changes is None:
        return None
    said = f"{len(changes)} settings are not as published, by the scale or by who ran this; settings.yaml has all."
    rows = pandas.DataFrame(changes, columns=["paper", "setting", "published", "here"])
    grid = table(rows, "Settings that differ from the published ones", "table-settings", fold=False, cards=True)
    return section("settings", "Settings", tag("p", said), grid if len(rows) else None)


def _stages(jobs: pandas.DataFrame) -> Section | None:
    if jobs.empty:
        return None
    grid = table(by_stage(jobs), "Seconds and peak memory (MB) of all stages", "table-stages", fold=False)
    return section("stages", "Time and memory", grid)


def _data(data: pandas.DataFrame) -> Section | None:
    if data.empty:
        return None
    grid = table(data, "Archives that this run read", "table-data", fold=False)
    return section("data", "Data and licences", grid)


def _graph(edges: list[Edge]) -> Section | None:
    if not edges:
        return None
    listed = tag("ul", [tag("li", f"{source} feeds {target}") for source, target in edges])
    drawn = tag("div", draw_graph(edges), class_="graph")
    return section("graph", "Graph of stages", drawn, tag("details", tag("summary", "The same as a list"), listed))
