"""The table of neighbours on docs/neighbours.md, written from neighbours.tsv of runs.

    python -m reprlab.runs.page_neighbours            # print it
    python -m reprlab.runs.page_neighbours --write    # renew it in docs/neighbours.md

The page says where it belongs, by a line `<!-- neighbours -->` and another `<!-- end of neighbours -->`. Each neighbour
that a paper declares has a line with what was learnt at `mini` and at `small`. Where a run is not at hand, its column
stays as the page has it, as do the cells of papers that the run has not made.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reprlab.results.neighbours import Neighbour
from reprlab.results.records import records_of
from reprlab.runs.page_verdicts import NOT_RUN, SCALES, plain, table_rows
from reprlab.runtime.errors import ReprlabError, told_in_one_line

BEGIN, END = "<!-- neighbours -->", "<!-- end of neighbours -->"
COLUMNS = ("neighbour", "beside", "paper", "measure", *SCALES)
NO_NUMBER = "no number"
_BLOCK = re.compile(rf"^{re.escape(BEGIN)}\n(?P<body>.*?)^{re.escape(END)}$", flags=re.S | re.M)
_FILE = "results/neighbours.tsv"


def renew(page: Path, text: str, declared: Iterable[tuple[str, Neighbour]], runs: Mapping[str, Any]) -> tuple[str, str]:
    """The text of a page with its table of neighbours made anew, and that table.

    Args:
        declared: each neighbour with the slug of its paper.
        runs: neighbours.tsv by scale, where there is one.

    Raises:
        ReprlabError: the page has no place for it.
    """
    block = _BLOCK.search(text)
    if block is None:
        raise ReprlabError(f"{page}: has no place for neighbours; write the lines `{BEGIN}` and `{END}`")
    former = {tuple(row[:4]): row[4:] for row in table_rows(block["body"]) if len(row) == len(COLUMNS)}
    lines = [COLUMNS, ("---",) * len(COLUMNS), *_lines(declared, runs, former)]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return f"{text[: block.start('body')]}\n{table}\n{text[block.end('body') :]}", table


def _lines(
    declared: Iterable[tuple[str, Neighbour]], runs: Mapping[str, Any], former: Mapping[tuple[str, ...], list[str]]
) -> Iterator[tuple[str, ...]]:
    for slug, one in declared:
        names = (plain(one.rival.name), plain(one.method.name), f"[{slug}](papers/{slug}.md)", plain(one.measure))
        known = dict(zip(SCALES, former.get(names, [NOT_RUN] * len(SCALES)), strict=True))
        known |= {scale: learnt(slug, one, table) for scale, table in runs.items() if (table["paper"] == slug).any()}
        yield (*names, *(known[scale] for scale in SCALES))


def learnt(slug: str, one: Neighbour, table: Any) -> str:
    """What a run says of a neighbour, cell by cell: verdict, difference with its interval, and what it cost."""
    # Two neighbours may have one claim, on its parts and as a whole.
    own = (table["paper"] == slug) & (table["claim"] == one.claim) & table["measure"].str.startswith(one.measure)
    rows = table[own].to_dict("records")
    return "; ".join(map(plain, map(_said, rows, [one] * len(rows)))) or NOT_RUN


def _said(row: Mapping[str, Any], one: Neighbour) -> str:
    at = row["measure"].removeprefix(one.measure).removeprefix(", ")
    where = f"{at}: " if at else ""
    if row["difference"] != row["difference"]:
        return where + NO_NUMBER
    found = f"{row['difference']:+.3g}"
    if row["low"] == row["low"]:
        found += f" ({row['low']:+.3g} to {row['high']:+.3g}), {row['unit']}"
    seconds = [row[f"{side}_cpu_seconds"] for side in ("neighbour", "method")]
    cost = "" if any(one != one for one in seconds) else ", {:.0f} CPU-seconds for {:.0f}".format(*seconds)
    verdict = row["verdict"] if isinstance(row["verdict"], str) else "not judged"
    return f"{where}{verdict}, {found}{cost}"


def declared_neighbours() -> Iterator[tuple[str, Neighbour]]:
    """Each neighbour with the slug of the paper that declares it."""
    from reprlab.config.papers import SLUGS

    return ((slug, one) for slug in SLUGS for one in records_of(slug).neighbours)


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print the table of neighbours, or write it into its page; returns the exit status."""
    from reprlab.artifacts.tables import read_tsv
    from reprlab.runtime.files import write_text
    from reprlab.runtime.folders import checkout_root

    parser = argparse.ArgumentParser(prog="python -m reprlab.runs.page_neighbours", description=__doc__)
    for scale in SCALES:
        parser.add_argument(f"--{scale}", type=Path, help=f"folder of the run at {scale} (default: that of the scale)")
    parser.add_argument("--write", action="store_true", help="renew the table in the page")
    options = parser.parse_args(arguments)
    root = checkout_root()
    folders = {"mini": options.mini or root, "small": options.small or root / "runs/small"}
    runs = {scale: read_tsv(folder / _FILE) for scale, folder in folders.items() if (folder / _FILE).is_file()}
    page = root / "docs/neighbours.md"
    text, table = renew(page, page.read_text(encoding="utf-8"), declared_neighbours(), runs)
    if options.write:
        write_text(page, text)
    sys.stdout.write(f"{page}: renewed\n" if options.write else table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
