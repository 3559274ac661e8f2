"""What was tried and what was lost: for the last lines of the run, and as rows that a page is written from.

`python -m tests.workflow.faults.tally --write` writes the table of docs/reliability.md from
`resources/fault_trials.tsv`, to which a session with REPRLAB_FAULTS_RECORD=resources/fault_trials.tsv adds what it ran.
"""

import argparse
import csv
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
RECORD, PAGE = ROOT / "resources/fault_trials.tsv", ROOT / "docs/reliability.md"
RECORD_VARIABLE = "REPRLAB_FAULTS_RECORD"
COLUMNS = ("commit", "seed", "file", "paper", "cases", "failed", "tried", "lost", "seconds")
BEGIN, END = "<!-- written by `python -m tests.workflow.faults.tally --write` -->\n", "<!-- end -->\n"


def fault_seed() -> int:
    """REPRLAB_FAULTS_SEED repeats a run of the faults; without it each run has another."""
    given = os.environ.get("REPRLAB_FAULTS_SEED")
    seed = int(given) if given else random.SystemRandom().randrange(2**32)
    print(f"REPRLAB_FAULTS_SEED={seed}")
    return seed


@dataclass
class Tally:
    """What was tried, and what of it did not end in the same tables."""

    seed: int
    tried: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    by_test: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Faults tried and lost by the name of the test."""

    @contextmanager
    def trial(self, kind: str, where: str) -> Iterator[random.Random]:
        """Count what is tried in the block, as lost where it fails; gives its random numbers."""
        self.tried[kind] += 1
        try:
            yield random.Random(f"{self.seed}-{kind}-{where}")
        except BaseException as error:
            self.lost.append(f"{kind} in {where}: {str(error)[:300]}")
            raise

    @contextmanager
    def test(self, name: str) -> Iterator["Tally"]:
        """Count what a test tries as its own."""
        tried, lost = self.tried.total(), len(self.lost)
        try:
            yield self
        finally:
            self.by_test[name] = (self.tried.total() - tried, len(self.lost) - lost)

    def __str__(self) -> str:
        total = sum(self.tried.values())
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.tried.items()))
        return (
            f"faults: {total} tried, {total - len(self.lost)} survived, {len(self.lost)} lost ({kinds});"
            f" REPRLAB_FAULTS_SEED={self.seed}"
        )


TALLY = pytest.StashKey[Tally]()


def add_record(path: Path, tally: Tally, outcomes: Iterable[tuple[str, str, float]], papers: Iterable[str]) -> None:
    """Add a row for each file and paper of a session to a table; `outcomes` are test, outcome and seconds of each phase
    of the tests of faults."""
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    seconds: Counter[tuple[str, str]] = Counter()
    failed: set[str] = set()
    names: set[str] = set()
    for test, outcome, duration in outcomes:
        file, _, rest = test.partition("::")
        paper = next((one for one in sorted(papers, key=len, reverse=True) if one in rest), "depth")
        rows[file, paper].update(cases=test not in names, failed=outcome != "passed" and test not in failed)
        seconds[file, paper] += duration
        names.add(test)
        failed |= {test} if outcome != "passed" else set()
        tried, lost = tally.by_test.pop(test, (0, 0))
        rows[file, paper].update(tried=tried, lost=lost)
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t", lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        for (file, paper), counts in sorted(rows.items()):
            counted = [counts[name] for name in ("cases", "failed", "tried", "lost")]
            writer.writerow([done.stdout.strip(), tally.seed, file, paper, *counted, round(seconds[file, paper])])


def table(rows: Iterable[Mapping[str, str]]) -> str:
    """The table of the page: what each session ran of each file."""
    sessions: dict[tuple[str, str, str], list[Mapping[str, str]]] = defaultdict(list)
    for row in rows:
        sessions[row["commit"], row["seed"], row["file"]].append(row)
    lines = [
        "| tests | commit, seed | papers | cases | failed | faults tried | lost | minutes |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    total: Counter[str] = Counter()
    for (commit, seed, file), found in sessions.items():
        count = Counter({name: sum(int(row[name]) for row in found) for name in COLUMNS[4:]})
        total.update(count)
        counts = " | ".join(str(count[name]) for name in COLUMNS[4:8])
        papers = ", ".join(dict.fromkeys(row["paper"] for row in found))
        lines.append(f"| `{file}` | {commit}, {seed} | {papers} | {counts} | {count['seconds'] / 60:.0f} |")
    counts = " | ".join(str(total[name]) for name in COLUMNS[4:8])
    lines.append(f"| all | | | {counts} | {total['seconds'] / 60:.0f} |")
    return "\n".join(lines) + "\n"


def placed(page: str, begin: str, text: str) -> str:
    """The page with a text between a line that says what writes it and the next `END`."""
    before, _, rest = page.partition(begin)
    return before + begin + text + END + rest.partition(END)[2]


def written(page: str, rows: Iterable[Mapping[str, str]]) -> str:
    """The page with the table of these rows."""
    return placed(page, BEGIN, table(rows))


def main() -> int:
    """Print the table, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/reliability.md")
    with RECORD.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    if parser.parse_args().write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    else:
        sys.stdout.write(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
