"""Draw one of a paper's figures."""

from pathlib import Path

from reprlab.results.sources import GatherSettings
from reprlab.runtime.cli import run_stage


def plot_figure(
    *,
    paper: str,
    figure: str,
    tables: list[Path],
    published: list[Path],
    scale: str,
    png: Path,
    svg: Path,
    pdf: Path,
    gather: GatherSettings | None = None,
    inputs: list[Path] | None = None,
) -> None:
    """Draw a figure, as PNG, SVG and PDF with bytes that depend on the numbers alone.

    Args:
        paper: its slug.
        figure: name of the figure, without ending.
        tables: our finished table.
        published: the printed tables.
        scale: scale of the run, for the titles.
        gather: the part of the paper's frame that the table selects from, where a claim on it is the title.
        inputs: every file that the frame is read from.

    Raises:
        ReprlabError: no such figure, a printed table is missing or malformed, or a file that is read is not an input.
    """
    from reprlab.results.drawing import draw_figure
    from reprlab.results.records import records_of

    frame = None
    if gather is not None:
        from reprlab.results.frame import frame_of
        from reprlab.results.gather import gather_rows, require_inputs

        require_inputs(gather, inputs or [])
        frame = frame_of(gather_rows(gather), gather)
    draw_figure(records_of(paper), figure, tables[0], published, scale, [png, svg, pdf], frame)


if __name__ == "__main__":
    run_stage(plot_figure)
