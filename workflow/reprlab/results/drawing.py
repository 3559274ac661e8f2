"""Drawing one figure of a paper's records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reprlab.artifacts.tables import read_tsv
from reprlab.reporting.figures import house_style, save_figure
from reprlab.reporting.published import read_published
from reprlab.results.comparison import declarations
from reprlab.results.records import Drawn, PaperResults


def draw_figure(
    records: PaperResults, name: str, table: Path, published: Sequence[Path], scale: str, files: Sequence[Path]
) -> None:
    """Draw a figure from the finished table of its record, in the formats that the endings of `files` name.

    Raises:
        ReprlabError: no such figure, or a printed table is missing or malformed.
    """
    figure = records.figure(name)
    printed = read_published(published, declarations(records.printed))
    with house_style():
        drawing = figure.draw(read_tsv(table), Drawn(scale, printed))
        save_figure(drawing, files, records.labels)
