"""Draw one of a paper's figures."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def plot_figure(
    *, paper: str, figure: str, tables: list[Path], published: list[Path], scale: str, png: Path, svg: Path
) -> None:
    """Draw a figure from finished tables, as PNG and SVG with bytes that depend on the numbers alone.

    Args:
        paper: name of the paper's module below `reprlab.papers`.
        figure: name of the figure, without ending.
        tables: our finished tables, found by their file names.
        published: the printed tables.
        scale: scale of the run, for the titles.
    """
    from reprlab.plugins import load_plugin

    load_plugin("papers", f"{paper}.figures").plot(figure, tables, published, scale, png, svg)


if __name__ == "__main__":
    run_stage(plot_figure)
