"""`make compare RUNS="mini mask15"`: two runs side by side, in the terminal and, if asked, as a page or a table."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.folders import checkout_root, runs_of
from reprlab.settings.errors import nearest

if TYPE_CHECKING:
    import pandas

_SHOWN = 15
_WIDTH = 44


def folder_of(root: Path, run: str) -> Path:
    """The folder of a run: its name, or that of the default run for the checkout itself.

    Raises:
        ReprlabError: there is no such run, or it has no settings file.
    """
    from reprlab.config.resolved import FILE

    runs = _runs_of(root)
    if run not in runs:
        known = nearest(run, runs) or f"; {_known(runs)}"
        raise ReprlabError(f"{run}: there is no such run{known}")
    if not (runs[run] / FILE).is_file():
        raise ReprlabError(f"{runs[run] / FILE}: no such file; run any target of {run} again, which writes it")
    return runs[run]


def _runs_of(root: Path) -> dict[str, Path]:
    """The folders of the runs that have results, by name."""
    from reprlab.config.load import DEFAULT_SCALE

    runs = {DEFAULT_SCALE if path == root else path.name: path for path in runs_of(root)}
    return {name: path for name, path in runs.items() if (path / "results").is_dir()}


def _known(runs: dict[str, Path]) -> str:
    return f"known: {', '.join(runs)}" if runs else "no run has results yet"


def compare(root: Path, names: tuple[str, str], page: Path | None = None, table: Path | None = None) -> str:
    """The text for the terminal. `page` and `table` are written with all cells that differ."""
    from reprlab.artifacts.tables import write_tsv
    from reprlab.runs import differences as differences
    from reprlab.runtime.files import write_text

    first, second = (folder_of(root, name) for name in names)
    cells, counted = differences.tables(first, second)
    parts = {
        "Settings that differ": differences.settings(first, second),
        "Claims": differences.claims(first, second),
        "Tables": counted,
        "Cells that differ": cells,
        "Seconds by stage": differences.seconds(first, second),
    }
    parts = {title: _named(frame, names) for title, frame in parts.items()}
    if table is not None:
        write_tsv(table, parts["Cells that differ"])
    if page is not None:
        write_text(page, _page(parts, names))
    return "\n".join(_text(title, frame) for title, frame in parts.items())


def _named(frame: "pandas.DataFrame", names: tuple[str, str]) -> "pandas.DataFrame":
    """The frame with the runs' names in place of first and second."""
    renamed: dict[str, str] = {}
    for column in map(str, frame):
        if f"{column}_second" in frame:
            renamed |= {column: f"{column} {names[0]}", f"{column}_second": f"{column} {names[1]}"}
    ends = {"first": names[0], "second": names[1]}
    ends |= {f"rows of the {side} alone": f"rows of {name} alone" for side, name in ends.items()}
    return frame.rename(columns=renamed | ends)


def _page(parts: dict[str, "pandas.DataFrame"], names: tuple[str, str]) -> str:
    from reprlab.reporting.page.html import tag
    from reprlab.reporting.page.html_tables import table
    from reprlab.reporting.page.shell import document, entry, section

    title = f"{names[0]} and {names[1]}"
    sections = []
    for name, frame in parts.items():
        id = name.lower().replace(" ", "-")
        content = table(frame, name, f"table-{id}", fold=False) if len(frame) else tag("p", "None.")
        sections.append(section(id, name, content))
    header = tag("header", tag("h1", f"Two runs: {title}"))
    return document(title, [entry(id, name) for id, name, _ in sections], header, [part for *_, part in sections])


def _text(title: str, frame: "pandas.DataFrame") -> str:
    """A table for the terminal: its first rows, long texts cut."""
    from reprlab.reporting.page.html_tables import shown

    if not len(frame):
        return f"{title}: none\n"
    rows = frame.head(_SHOWN).values.tolist()
    lines = [[str(column) for column in frame], *([shown(value) for value in row] for row in rows)]
    cut = [[cell if len(cell) <= _WIDTH else cell[: _WIDTH - 3] + "..." for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
    padded = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cut]
    text = "\n".join(line.rstrip() for line in padded)
    more = f"\n... {len(frame) - _SHOWN} more; --page or --table writes all" if len(frame) > _SHOWN else ""
    return f"{title} ({len(frame)})\n{text}{more}\n"


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Compare two runs."""
    parser = argparse.ArgumentParser(prog="make compare", description=__doc__)
    parser.add_argument("runs", nargs="*", help="names of two runs; mini is that of results/ itself")
    parser.add_argument("--page", type=Path, help="write all of it as an HTML page")
    parser.add_argument("--table", type=Path, help="write the cells that differ as TSV")
    given = parser.parse_args(arguments)
    if len(given.runs) != 2:
        raise ReprlabError(f'give two runs: make compare RUNS="mini mask15"; {_known(_runs_of(checkout_root()))}')
    sys.stdout.write(compare(checkout_root(), tuple(given.runs), given.page, given.table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
