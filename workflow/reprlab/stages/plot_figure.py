"""Draw one of a paper's figures."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def plot_figure(
    *, paper: str, figure: str, tables: list[Path], published: list[Path], scale: str, png: Path, svg: Path, pdf: Path
) -> None:
    """Draw a figure, as PNG, SVG and PDF with bytes that depend on the numbers alone.

    Args:
        paper: its slug.
        figure: name of the figure, without ending.
        tables: our finished table.
        published: the printed tables.
        scale: scale of the run, for the titles.
    """
    from reprlab.results.drawing import draw_figure
    from reprlab.results.records import records_of

    draw_figure(records_of(paper), figure, tables[0], published, scale, [png, svg, pdf])


if __name__ == "__main__":
    run_stage(plot_figure)
