"""Counts of drawn faults, kept as rows of `resources/fault_draws.tsv`, and the table of docs/reliability.md from them.

`make mutants PACKAGE=<name> ARGS=--keep` adds a row; `python -m tests.mutation.draws` writes the page anew.
"""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

from tests.workflow.faults.tally import PAGE, ROOT, placed

RECORD = ROOT / "resources/fault_draws.tsv"
BEGIN = "<!-- written by `python -m tests.mutation.draws` -->\n"


@dataclass(frozen=True)
class Draw:
    """What became of the faults that were drawn of a package."""

    package: str
    drawn: int
    killed: int
    survived: int
    untested: int
    """No test runs the line."""
    equivalent: int

    @property
    def judged(self) -> int:
        """Those that change something."""
        return self.killed + self.survived + self.untested


_COLUMNS = ("commit", "seed", *(one.name for one in fields(Draw)))


def keep(found: Iterable[Draw], seed: int) -> None:
    """Add a row for each package, and write the page."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    new = not RECORD.exists()
    with RECORD.open("a", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t", lineterminator="\n")
        if new:
            writer.writerow(_COLUMNS)
        writer.writerows([done.stdout.strip(), seed, *astuple(one)] for one in found)
    write_page()


def rows_of_record() -> list[Mapping[str, str]]:
    """All rows, in the order of their draws."""
    with RECORD.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def first_and_last(rows: Iterable[Mapping[str, str]]) -> list[tuple[Draw, Draw]]:
    """The first and the last draw of each package."""
    found: dict[str, tuple[Draw, Draw]] = {}
    for row in rows:
        draw = Draw(row["package"], *(int(row[one.name]) for one in fields(Draw)[1:]))
        found[draw.package] = (found.get(draw.package, (draw, draw))[0], draw)
    return [pair for _, pair in sorted(found.items())]


def table(pairs: Sequence[tuple[Draw, Draw]]) -> str:
    """Counts of the last draw of each package beside the killed of the first, in Markdown."""
    lines = [
        "| package | killed at first | faults | killed | survived | no test runs the line | equivalent | score |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for first, last in pairs:
        score = f"{100 * last.killed / last.judged:.0f} %" if last.judged else ""
        cells = [f"`{last.package}`", f"{first.killed} of {first.drawn}", *map(str, astuple(last)[1:]), score]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def written(page: str, rows: Iterable[Mapping[str, str]]) -> str:
    """The page with the table of these rows."""
    return placed(page, BEGIN, table(first_and_last(rows)))


def write_page() -> None:
    """Write docs/reliability.md."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows_of_record()), encoding="utf-8")


if __name__ == "__main__":
    write_page()
