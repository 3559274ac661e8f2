"""Error rates of the rules: simulated data with no effect and with one, every rule, the papers' numbers of units.

Run it to print the tables of docs/calibration.md, or with `--write` to renew them there (some minutes).
"""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reprlab.statistics.calibration_cases import Case, cases
from reprlab.statistics.calibration_standing import standing_rows
from reprlab.statistics.rules import SUPPORTED

SIMULATIONS = 4_000
SEED = 0
DOCUMENT = Path(__file__).parents[3] / "docs" / "calibration.md"
HEAD = """| rule | units | false support | covers | effect | supported |
| --- | --- | --- | --- | --- | --- |
"""
STANDING_HEAD = """| seeds | examples | what is simulated | flag | above | counted | flips |
| --- | --- | --- | --- | --- | --- | --- |
"""
MARKS = ("<!-- calibration: rules -->", "<!-- calibration: references -->", "<!-- calibration: standing -->")


@dataclass(frozen=True)
class Errors:
    """Shares of simulations: supported with no effect, supported with the effect, and how often the interval holds the
    truth where there is one, the lower of both."""

    false_support: float
    power: float
    covers: float


def generator(name: str, seed: int = SEED) -> np.random.Generator:
    """Random numbers of a row: they depend on its name and the seed, not on its place in the table."""
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:8], "big")))


def simulate(case: Case, simulations: int = SIMULATIONS, seed: int = SEED) -> Errors:
    """Simulate one row."""
    rng = generator(f"{case.name} {case.units}", seed)
    supported, covered = [], []
    for truth in case.truths:
        found = [case.draw(rng, truth) for _ in range(simulations)]
        supported.append(sum(case.rule.judge(one) == SUPPORTED for one in found) / simulations)
        known = [one for one in found if not math.isnan(one.low)]
        held = sum(one.low - 1e-9 <= truth <= one.high + 1e-9 for one in known)
        covered.append(held / len(known) if known else math.nan)
    return Errors(supported[0], supported[1], min(covered))


def row(case: Case, errors: Errors) -> str:
    """A line of the table."""
    shares = [f"{100 * one:.1f} %" for one in (errors.false_support, errors.covers, errors.power)]
    return f"| {case.name} | {case.units} | {shares[0]} | {shares[1]} | {case.effect} | {shares[2]} |"


def tables(simulations: int = SIMULATIONS) -> dict[str, str]:
    """The tables by the mark below which they are."""
    chosen = list(cases())
    lines = {case: row(case, simulate(case, simulations)) for case in chosen}
    return {
        MARKS[0]: HEAD + _lines(lines[case] for case in chosen if not case.reference),
        MARKS[1]: HEAD + _lines(lines[case] for case in chosen if case.reference),
        MARKS[2]: STANDING_HEAD + _lines(standing_rows(simulations, generator)),
    }


def renewed(text: str, found: dict[str, str]) -> str:
    """The document with its tables replaced: each from its mark to the next empty line."""
    for mark, table in found.items():
        before, _, after = text.partition(mark + "\n")
        text = f"{before}{mark}\n{table}\n{after.partition(chr(10) * 2)[2]}"
    return text


def _lines(rows: Iterable[str]) -> str:
    return "".join(f"{one}\n" for one in rows)


def main(arguments: list[str] | None = None) -> int:
    """Print the tables, or write them into the document; returns the exit status."""
    from reprlab.runtime.files import write_text

    parser = argparse.ArgumentParser(prog="python -m reprlab.statistics.calibration", description=__doc__)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS, help="data sets of each row and truth")
    parser.add_argument("--write", action="store_true", help=f"renew the tables of {DOCUMENT.name}")
    options = parser.parse_args(arguments)
    found = tables(options.simulations)
    if options.write:
        write_text(DOCUMENT, renewed(DOCUMENT.read_text(encoding="utf-8"), found))
    else:
        sys.stdout.write("\n".join(found.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
