"""One paper's fold in the report: claims, figures, tables with the printed numbers, audit, what made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprlab.reporting.benchmarks import by_stage, of_paper
from reprlab.reporting.page.attached import attached
from reprlab.reporting.page.claims import audit, claims
from reprlab.reporting.page.figures import figures
from reprlab.reporting.page.folder import PaperFolder
from reprlab.reporting.page.html import Html, heading, join, tag
from reprlab.reporting.page.html_tables import table
from reprlab.reporting.page.verdicts import ORDERS, counts

if TYPE_CHECKING:
    import pandas

_OPEN_ROWS = 12
_COMPARED = ["row", "column", "ours", "published", "difference", "note"]


def paper_section(paper: PaperFolder, jobs: pandas.DataFrame, *, tested: bool) -> tuple[Html, list[tuple[str, str]]]:
    """The fold, and the links to its parts for the contents. `tested`: the scale tests anything."""
    parts = {
        ("claims", "Claims"): claims(paper, tested=tested),
        ("figures", "Figures"): figures(paper),
        ("tables", "Tables"): _tables(paper, tested=tested),
        ("printed", "Printed cells"): _printed(paper),
        ("audit", "Audit"): audit(paper),
        ("provenance", "What made it"): _provenance(paper, jobs),
    }
    made = {name: part for name, part in parts.items() if part is not None}
    sections = [
        tag("section", heading("h3", title, f"{paper.slug}-{name}"), part, aria_labelledby=f"{paper.slug}-{name}")
        for (name, title), part in made.items()
    ]
    summary = tag(
        "summary",
        tag("h2", paper.about.TITLE),
        tag("ul", counts(paper.counts("claims"), ORDERS["claims"]), class_="chips") if tested else None,
    )
    fold = tag("details", summary, _intro(paper), sections, id=paper.slug, class_="paper")
    return fold, [(f"{paper.slug}-{name}", title) for name, title in made]


def _intro(paper: PaperFolder) -> Html:
    links = [tag("a", "the paper", href=paper.about.URL)] if getattr(paper.about, "URL", "") else []
    paths = (paper.path("results", "parquet"), paper.path("claims"), paper.path("audit"))
    links += [link for path in paths if (link := attached(path, paper.folder.parent))]
    spaced = [join(" · " if number else None, link) for number, link in enumerate(links)]
    return join(tag("p", paper.about.AUTHORS), tag("p", paper.about.QUESTION), tag("p", spaced) if spaced else None)


def compared(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Rows of `comparison` with ours minus the printed number, where both are numbers."""
    import pandas

    numbers = {name: pandas.to_numeric(frame[name], errors="coerce") for name in ("ours", "published")}
    gap = (numbers["ours"] - numbers["published"]).map(lambda value: float(f"{value:.4g}"))
    return frame.assign(difference=gap)


def _tables(paper: PaperFolder, *, tested: bool) -> Html | None:
    done = ((name, paper.read(name)) for name in paper.done())
    parts = [_table(paper, name, frame, tested=tested) for name, frame in done if frame is not None]
    return join(parts) if parts else None


def _table(paper: PaperFolder, name: str, frame: pandas.DataFrame, *, tested: bool) -> Html:
    """Ours beside what is printed where there is both, then our whole table."""
    id, caption = f"{paper.slug}-table-{name}", paper.tables[name]
    printed = paper.read("comparison")
    both = None
    if printed is not None:
        rows = printed[(printed["table"] == name) & printed["ours"].notna()]
        both = compared(rows)[_COMPARED] if len(rows) else None
    content = join(
        tag("p", attached(paper.path(name), paper.folder), f": {len(frame)} rows. "),
        table(both, f"Ours beside the paper's: {caption}", f"{id}-both", fold=False, cards=True)
        if both is not None
        else None,
        table(frame, caption, f"{id}-rows", marks=tested),
    )
    label = tag("summary", tag("h4", caption), _self(id))
    return tag("details", label, content, id=id, open=len(frame) <= _OPEN_ROWS)


def _self(id: str) -> Html:
    return tag("a", "#", href=f"#{id}", class_="self", aria_label="Link to this part")


def _printed(paper: PaperFolder) -> Html | None:
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
    file = attached(paper.path("comparison"), paper.folder)
    return join(tag("p", said, file), tag("details", tag("summary", f"All {len(frame)} printed cells"), grid))


def _provenance(paper: PaperFolder, jobs: pandas.DataFrame) -> Html | None:
    import pandas

    rows = []
    for name, record in paper.records().items():
        file = attached(paper.path(name, "provenance.json"), paper.folder, f"{name}.tsv")
        seeds, commit = ", ".join(map(str, record["seeds"])), str(record["commit"])[:10]
        rows.append((file, record["stage"], seeds, len(record["inputs"]), commit, record["sha256"][:12]))
    own = by_stage(of_paper(jobs, paper.slug))
    names = ["file", "stage", "seeds", "inputs", "commit", "sha256"]
    records = table(
        # As objects: pandas would make plain text of HTML.
        pandas.DataFrame(rows, columns=names, dtype=object),
        "Settings, inputs and versions are behind the links",
        f"{paper.slug}-made",
        fold=False,
    )
    times = table(own, "Seconds and peak memory (MB) of its own stages", f"{paper.slug}-time", fold=False)
    return join(records if rows else None, times if len(own) else None) if rows or len(own) else None
