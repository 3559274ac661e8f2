"""One paper's fold in the report: claims, figures, tables with the printed numbers, audit, what made them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.reporting.benchmarks import by_stage, of_paper
from reprlab.reporting.page.claims import audit, claims
from reprlab.reporting.page.figures import figures
from reprlab.reporting.page.folder import PaperFolder
from reprlab.reporting.page.html import Html, heading, join, tag
from reprlab.reporting.page.html_tables import table
from reprlab.reporting.page.verdicts import ORDERS, STANDING, counts, legend

if TYPE_CHECKING:
    import pandas

_OPEN_ROWS = 12
_COMPARED = ["row", "column", "ours", "published", "difference", "note"]


def paper_section(paper: PaperFolder, jobs: pandas.DataFrame, page: Path) -> tuple[Html, list[tuple[str, str]]]:
    """The fold, and the links to its parts for the contents."""
    parts = {
        ("claims", "Claims"): claims(paper),
        ("figures", "Figures"): figures(paper, page),
        ("tables", "Tables"): _tables(paper, page),
        ("printed", "Printed cells"): _printed(paper, page),
        ("audit", "Audit"): audit(paper, page),
        ("provenance", "What made it"): _provenance(paper, jobs, page),
    }
    made = {name: part for name, part in parts.items() if part is not None}
    sections = [
        tag("section", heading("h3", title, f"{paper.slug}-{name}"), part, aria_labelledby=f"{paper.slug}-{name}")
        for (name, title), part in made.items()
    ]
    summary = tag(
        "summary",
        tag("h2", paper.about.TITLE),
        tag("ul", counts(paper.counts("claims"), ORDERS["claims"]), class_="chips"),
    )
    fold = tag("details", summary, _intro(paper, page), sections, id=paper.slug, class_="paper")
    return fold, [(f"{paper.slug}-{name}", title) for name, title in made]


def _intro(paper: PaperFolder, page: Path) -> Html:
    links = [tag("a", "the paper", href=paper.about.URL)] if getattr(paper.about, "URL", "") else []
    named = {"results.parquet": ("results", "parquet"), "claims.tsv": ("claims", "tsv"), "audit.tsv": ("audit", "tsv")}
    for text, (name, ending) in named.items():
        link = paper.link(name, ending, page)
        links += [tag("a", text, href=link)] if link else []
    spaced = [join(" · " if number else None, link) for number, link in enumerate(links)]
    return join(tag("p", paper.about.AUTHORS), tag("p", paper.about.QUESTION), tag("p", spaced) if spaced else None)


def compared(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Rows of `comparison` with ours minus the printed number, where both are numbers."""
    import pandas

    numbers = {name: pandas.to_numeric(frame[name], errors="coerce") for name in ("ours", "published")}
    gap = (numbers["ours"] - numbers["published"]).map(lambda value: float(f"{value:.4g}"))
    return frame.assign(difference=gap)


def _tables(paper: PaperFolder, page: Path) -> Html | None:
    parts = [_table(paper, name, frame, page) for name in paper.done() if (frame := paper.read(name)) is not None]
    return join(legend(STANDING) if any(paper.standing().values()) else None, parts) if parts else None


def _table(paper: PaperFolder, name: str, frame: pandas.DataFrame, page: Path) -> Html:
    """Ours beside what is printed where there is both, then our whole table."""
    id, caption = f"{paper.slug}-table-{name}", paper.tables[name]
    printed = paper.read("comparison")
    both = None
    if printed is not None:
        rows = printed[(printed["table"] == name) & printed["ours"].notna()]
        both = compared(rows)[_COMPARED] if len(rows) else None
    content = join(
        tag("p", tag("a", f"{name}.tsv", href=paper.link(name, "tsv", page)), f": {len(frame)} rows. "),
        table(both, f"Ours beside the paper's: {caption}", f"{id}-both", fold=False, cards=True)
        if both is not None
        else None,
        table(frame, caption, f"{id}-rows"),
    )
    label = tag("summary", tag("h4", caption), _self(id))
    return tag("details", label, content, id=id, open=len(frame) <= _OPEN_ROWS)


def _self(id: str) -> Html:
    return tag("a", "#", href=f"#{id}", class_="self", aria_label="Link to this part")


def _printed(paper: PaperFolder, page: Path) -> Html | None:
    """Every printed cell, with ours or the reason why there is none."""
    frame = paper.read("comparison")
    if frame is None:
        return None
    filled = int(frame["ours"].notna().sum())
    said = (
        f"{len(frame)} printed cells, {filled} with a number of ours. A number made at another scale or on other data "
    )
    said += "is not a replication of the printed one: the note says which data, and why there is none. "
    id = f"{paper.slug}-cells"
    grid = table(compared(frame)[["table", *_COMPARED]], "Every printed cell", id, fold=False, cards=True)
    file = tag("a", "comparison.tsv", href=paper.link("comparison", "tsv", page))
    return join(tag("p", said, file), tag("details", tag("summary", f"All {len(frame)} printed cells"), grid))


def _provenance(paper: PaperFolder, jobs: pandas.DataFrame, page: Path) -> Html | None:
    import pandas

    rows = []
    for name, record in paper.records().items():
        link = paper.link(name, "provenance.json", page)
        file = tag("a", f"{name}.tsv", href=link) if link else Html(f"{name}.tsv")
        seeds, commit = ", ".join(map(str, record["seeds"])), str(record["commit"])[:10]
        rows.append((file, record["stage"], seeds, len(record["inputs"]), commit, record["sha256"][:12]))
    own = by_stage(of_paper(jobs, paper.slug))
    names = ["file", "stage", "seeds", "inputs", "commit", "sha256"]
    records = table(
        pandas.DataFrame(rows, columns=names),
        "Settings, inputs and versions are behind the links",
        f"{paper.slug}-made",
        fold=False,
    )
    times = table(own, "Seconds and peak memory (MB) of its own stages", f"{paper.slug}-time", fold=False)
    return join(records if rows else None, times if len(own) else None) if rows or len(own) else None
