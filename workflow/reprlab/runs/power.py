"""What a run can decide: the effect that four of five such runs would support, claim by claim, from a former run.

    python -m reprlab.runs.power --paper event-relations                     # with as many units as that run had
    python -m reprlab.runs.power --paper event-relations --units 4 8 16      # with these

Read from results/<slug>/claims.tsv before a run is planned: where the smallest effect is larger than what could be
true, more units are needed, or another question.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from reprlab.runtime.errors import ReprlabError, told_in_one_line

COLUMNS = ("claim", "estimate", "units", "unit", "power")


def table(claims: Path, units: Sequence[int]) -> Iterator[list[str]]:
    """The rows of the table, the heads first: the claims that have an interval, and what each number of units decides.

    Raises:
        ReprlabError: the file is missing or damaged.
    """
    from reprlab.artifacts.tables import read_tsv
    from reprlab.statistics import Estimate
    from reprlab.statistics.power import decided_effect

    yield [*COLUMNS, *(f"{number} units" for number in units)]
    for row in read_tsv(claims).to_dict("records"):
        if row["low"] != row["low"]:
            continue
        value, low, high = (float(row[name]) for name in ("estimate", "low", "high"))
        found = Estimate(value, low, high, int(row["units"]), str(row["unit"]), str(row["interval"]))
        effects = (decided_effect(found, number) for number in (None, *units))
        about = [str(row["id"]), f"{found.value:.3g}", str(found.n), found.unit]
        yield [*about, *("" if effect != effect else f"{effect:.2g}" for effect in effects)]


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print the table, tab-separated; returns the exit status."""
    from reprlab.config.papers import SLUGS
    from reprlab.runtime.folders import checkout_root
    from reprlab.settings.errors import nearest

    parser = argparse.ArgumentParser(
        prog="python -m reprlab.runs.power", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paper", required=True, help="slug of the paper")
    parser.add_argument("--run", type=Path, help="folder of the former run (default: that of mini)")
    parser.add_argument("--units", type=int, nargs="+", default=[], help="numbers of units to plan with")
    options = parser.parse_args(arguments)
    if options.paper not in SLUGS:
        raise ReprlabError(f"{options.paper}: there is no such paper{nearest(options.paper, SLUGS)}")
    if few := [number for number in options.units if number < 2]:
        raise ReprlabError(f"--units {few[0]}: one unit has no interval; give 2 or more")
    claims = (options.run or checkout_root()) / "results" / options.paper / "claims.tsv"
    if not claims.is_file():
        raise ReprlabError(f"{claims}: there is no such file; make {options.paper} first")
    sys.stdout.writelines("\t".join(row) + "\n" for row in table(claims, options.units))
    return 0


if __name__ == "__main__":
    sys.exit(main())
