"""One paper's section of the report."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_tsv
from reprlab.reporting.benchmarks import by_stage, of_paper
from reprlab.reporting.page.html import Html, join, tag
from reprlab.reporting.page.tables import table
from reprlab.reporting.provenance import provenance_path

if TYPE_CHECKING:
    import pandas

_FIRST_ROWS = 12
_WIDE = 1200


class PaperFolder:
    """The results of one paper: `results/<slug>` and what the paper says about itself."""

    def __init__(self, folder: Path, about: Any) -> None:
        self.folder, self.slug, self.about = folder, folder.name, about
        self.tables: Mapping[str, str] = about.TABLES
        self.figures: Mapping[str, str] = about.FIGURES

    def read(self, name: str) -> pandas.DataFrame | None:
        """A table, or None where it was not made."""
        path = self.folder / f"{name}.tsv"
        return read_tsv(path) if path.exists() else None

    def counts(self, name: str) -> dict[str, int]:
        """Number of rows by verdict in `audit` or `claims`."""
        frame = self.read(name)
        return {} if frame is None else {str(key): int(n) for key, n in frame["verdict"].value_counts().items()}

    def done(self) -> list[str]:
        """The tables that were made."""
        return [name for name in self.tables if (self.folder / f"{name}.tsv").exists()]


def paper_section(paper: PaperFolder, jobs: pandas.DataFrame) -> Html:
    """Claims first, then figures, tables, comparison, audit, provenance and time."""
    parts = [
        _report(paper, "claims", "Claims", "Each rule was written before its number was seen."),
        _figures(paper),
        _tables(paper),
        _comparison(paper),
        _report(paper, "audit", "Audit of the paper's arithmetic", "Checks that need no training."),
        _provenance(paper),
        _time(paper, jobs),
    ]
    return tag(
        "section",
        tag("h2", paper.about.TITLE, id=f"{paper.slug}-title"),
        tag("p", paper.about.AUTHORS),
        tag("p", paper.about.QUESTION),
        parts,
        id=paper.slug,
        aria_labelledby=f"{paper.slug}-title",
    )


def _report(paper: PaperFolder, name: str, title: str, text: str) -> Html | None:
    frame = paper.read(name)
    if frame is None:
        return None
    counts = ", ".join(f"{count} {verdict}" for verdict, count in paper.counts(name).items())
    first = ["id", "verdict"]
    ordered = frame[[*first, *(column for column in frame if column not in first)]]
    if name == "claims":
        columns = "id verdict claim estimate low high statistic rule interval unit units note"
        ordered = ordered[columns.split()]
    return join(
        tag("h3", title, id=f"{paper.slug}-{name}"),
        tag("p", f"{text} {counts}."),
        table(ordered, f"{title}: {counts}", f"table-{paper.slug}-{name}"),
    )


def _figures(paper: PaperFolder) -> Html | None:
    drawn = [_figure(paper, name, caption) for name, caption in paper.figures.items()]
    found = [figure for figure in drawn if figure is not None]
    return join(tag("h3", "Figures", id=f"{paper.slug}-figures"), found) if found else None


def _figure(paper: PaperFolder, name: str, caption: str) -> Html | None:
    path = paper.folder / f"{name}.svg"
    if not path.exists():
        return None
    content = path.read_bytes()
    data = base64.b64encode(content).decode("ascii")
    wide = b'width="' in content and float(content.split(b'width="', 1)[1].split(b"pt", 1)[0]) * 4 / 3 > _WIDE * 0.7
    source = f" The numbers are in the table {name.removeprefix('fig_')} below."
    return tag(
        "figure",
        tag(
            "div",
            tag("img", src=Html(f"data:image/svg+xml;base64,{data}"), alt=f"{caption}{source}"),
            class_="picture wide" if wide else "picture",
        ),
        tag("figcaption", f"{caption} File: {name}.svg."),
    )


def _tables(paper: PaperFolder) -> Html | None:
    parts = []
    for name in paper.done():
        frame = paper.read(name)
        if frame is None:
            continue
        content = table(frame, paper.tables[name], f"table-{paper.slug}-{name}")
        label = f"{name}.tsv: {paper.tables[name]} {len(frame)} rows"
        parts.append(tag("details", tag("summary", label), content, open=len(frame) <= _FIRST_ROWS))
    return join(tag("h3", "Tables", id=f"{paper.slug}-tables"), parts) if parts else None


def _comparison(paper: PaperFolder) -> Html | None:
    frame = paper.read("comparison")
    if frame is None:
        return None
    filled = frame[frame["ours"].notna()]
    title = "Ours beside the paper's"
    counted = f"{len(frame)} printed cells, {len(filled)} with a number of ours."
    caution = (
        "A number made at another scale or on other data is no replication of the printed one: the note says which."
    )
    return join(
        tag("h3", title, id=f"{paper.slug}-comparison"),
        tag("p", f"{counted} {caution}"),
        table(filled, "Printed cells with a number of ours", f"table-{paper.slug}-compared") if len(filled) else None,
        tag(
            "details",
            tag("summary", f"All {len(frame)} printed cells"),
            table(
                frame, "Every printed cell, with the reason where there is none of ours", f"table-{paper.slug}-cells"
            ),
        ),
    )


def _provenance(paper: PaperFolder) -> Html | None:
    parts = []
    for name in (*paper.done(), "comparison", "audit", "claims"):
        path = provenance_path(paper.folder / f"{name}.tsv")
        if path.exists():
            record = read_json(path)
            parts.append(tag("details", tag("summary", f"{name}.tsv"), _record(record)))
    return join(tag("h3", "Provenance", id=f"{paper.slug}-provenance"), parts) if parts else None


def _record(record: Mapping[str, Any]) -> Html:
    import pandas

    facts = {
        "stage": record["stage"],
        "commit": record["commit"] or "not under git",
        "seeds": ", ".join(map(str, record["seeds"])) or "none",
        "machine": ", ".join(f"{key} {value}" for key, value in record["machine"].items()),
        "versions": ", ".join(f"{key} {value}" for key, value in record["versions"].items()),
    }
    rows = pandas.DataFrame(list(facts.items()), columns=["what", "value"])
    inputs = pandas.DataFrame(
        [(item["path"], item["sha256"]) for item in record["inputs"]], columns=["input", "sha256"]
    )
    key = f"{record['result'].partition('.')[0]}-{record['stage']}"
    return join(
        table(rows, "What made it", f"facts-{key}"),
        table(inputs, "Its inputs", f"inputs-{key}") if len(inputs) else None,
    )


def _time(paper: PaperFolder, jobs: pandas.DataFrame) -> Html | None:
    own = of_paper(jobs, paper.slug)
    if own.empty:
        return None
    return join(
        tag("h3", "Time and memory of its own stages", id=f"{paper.slug}-time"),
        table(by_stage(own), "Seconds and peak memory (MB) by stage", f"table-{paper.slug}-time"),
    )
