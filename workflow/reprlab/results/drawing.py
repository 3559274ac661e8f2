"""Drawing one figure of a paper's records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_tsv
from reprlab.reporting.figures import house_style, save_figure
from reprlab.reporting.published import read_published
from reprlab.results.comparison import declarations
from reprlab.results.records import Drawn, PaperResults
from reprlab.results.titles import title_of

if TYPE_CHECKING:
    from reprlab.results.frame import Frame


def draw_figure(
    records: PaperResults,
    name: str,
    table: Path,
    published: Sequence[Path],
    scale: str,
    files: Sequence[Path],
    frame: Frame | None = None,
) -> None:
    """Draw a figure from the finished table of its record, in the formats that the endings of `files` name.

    `frame` are the rows of the table, on which the claim of its title is judged.

    Raises:
        ReprlabError: no such figure, or a printed table is missing or malformed.
    """
    figure = records.figure(name)
    printed = read_published(published, declarations(records.printed))
    with house_style():
        drawing = figure.draw(read_tsv(table), Drawn(scale, printed))
        save_figure(drawing, files, records.labels, title_of(records, figure, scale, frame))
