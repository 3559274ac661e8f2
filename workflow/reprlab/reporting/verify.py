"""`make verify`: whether every result is what its stage wrote, and made from what is there, by sha256."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from reprlab.artifacts.json_files import read_json
from reprlab.reporting.provenance import digest
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.folders import checkout_root, runs_of
from reprlab.runtime.seals import RESULTS, sealed_results
from reprlab.runtime.stale import Results

_ENDING = ".provenance.json"


def problems(run: Path) -> Iterator[str]:
    """One line for each result below `run/results` that is not what it was when it was made.

    Every seal is held against the whole content, and every table also against the sha256 in its provenance record, so
    that a result that was copied elsewhere with its record alone can be checked too.
    """
    named, results = set(), Results(run, thorough=True)
    for path in sealed_results(run):
        for stale in results.of_result(str(path)):
            if stale.kind != "other input":
                named.add(path)
            yield f"{path}: {_SAID[stale.kind].format(stale.source)}"
    for record in sorted((run / RESULTS).glob(f"*/*{_ENDING}")):
        yield from _differs(record, run, named)


_SAID = {
    "unsealed": "its seal is damaged; the next run makes it again",
    "edited": "is not what its stage wrote; the next run keeps it under another name and makes it again",
    "other input": "was made from another {} than the one that is there; the next run makes it again",
}


def _differs(record: Path, run: Path, named: set[Path]) -> Iterator[str]:
    try:
        facts = read_json(record)
        result, expected = record.with_name(facts["result"]), facts["sha256"]
    except ReprlabError as error:
        yield str(error)
        return
    except (KeyError, TypeError):
        yield f"{record.relative_to(run)}: names no sha256 of its result; delete it and run again"
        return
    if result.relative_to(run) in named:
        return
    if not result.exists():
        yield f"{result.relative_to(run)}: is missing; run again"
    elif digest(result) != expected:
        yield f"{result.relative_to(run)}: is not the result that {record.name} describes; delete both and run again"


@told_in_one_line(2)
def main(arguments: list[str] | None = None) -> int:
    """Check the runs named (default: all that there are); 1 where a result differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path, help="folders that hold results/ (default: every run)")
    runs = parser.parse_args(arguments).runs or runs_of(checkout_root())
    found = 0
    for run in runs:
        for line in problems(run):
            found += 1
            sys.stdout.write(f"{run}: {line}\n")
    sys.stdout.write(f"{found} results differ from what was made\n" if found else "every result is as it was made\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
