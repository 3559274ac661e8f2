"""Which tests run a line, and how long they take: one run of the unit tests under coverage, kept below `.mutation/`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(".mutation")
_DATA = FOLDER / "coverage"
_TIMES = FOLDER / "seconds.json"
_SHORT = "not (slow or faults or cluster or release)"
_SETTINGS = """
[run]
source = workflow/reprlab
relative_files = true
data_file = {data}
parallel = true
disable_warnings = no-data-collected, module-not-imported, dynamic-conflict
"""


def record(root: Path, tests: list[str], jobs: int) -> None:
    """Run the tests once under coverage, in `jobs` processes. Takes about twice as long as the unit tests alone.

    What is known of other files stays where files are named, and is dropped where folders are.
    """
    FOLDER.mkdir(exist_ok=True)
    known = {} if any(Path(test).is_dir() for test in tests) or not _TIMES.exists() else json.loads(_TIMES.read_text())
    for old in (*FOLDER.glob("coverage.*"), *FOLDER.glob("seconds-*"), *([] if known else [_DATA])):
        old.unlink(missing_ok=True)
    settings = FOLDER / "coveragerc"
    settings.write_text(_SETTINGS.format(data=_DATA))
    files = sorted(
        {file for test in tests for file in (Path(test).glob("test_*.py") if Path(test).is_dir() else [test])}
    )
    path = os.pathsep.join([str(root / "workflow"), str(root)])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    coverage = [sys.executable, "-m", "coverage"]
    run = [*coverage, "run", "--rcfile", str(settings), "-m", "tests.mutation.recorded"]
    running = [
        subprocess.Popen([*run, *map(str, files[job::jobs])], env=environment) for job in range(min(jobs, len(files)))
    ]
    for process in running:
        process.wait()
    appended = ["--append"] if known else []
    subprocess.run([*coverage, "combine", *appended, "--rcfile", str(settings)], check=True)
    _TIMES.write_text(json.dumps(merged(known, map(str, files))))


def merged(known: dict[str, float], files: Iterable[str]) -> dict[str, float]:
    """Seconds by test: what is known of other files, and what the processes of a record have written of these."""
    anew = set(files)
    kept = {test: taken for test, taken in known.items() if test.partition("::")[0] not in anew}
    for part in FOLDER.glob("seconds-*.json"):
        kept |= json.loads(part.read_text())
    return kept


class Contexts:
    """A plugin of pytest: the node that runs becomes the context of coverage, and its seconds are noted."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    def passed(self) -> dict[str, float]:
        """Seconds of the tests that pass as the code is: one that fails anyway would kill every fault."""
        return {test: taken for test, taken in self.seconds.items() if test not in self.failed}

    def pytest_runtest_logstart(self, nodeid) -> None:
        import coverage

        current = coverage.Coverage.current()
        if current is not None:
            current.switch_context(nodeid)


class Recorded:
    """The record: tests by line of a module."""

    def __init__(self, root: Path) -> None:
        import coverage

        if not _DATA.exists() or not _TIMES.exists():
            raise SystemExit("error: nothing is recorded; run make mutants RECORD=yes first")
        self._root = root
        self._data = coverage.CoverageData(str(_DATA))
        self._data.read()
        self._seconds = json.loads(_TIMES.read_text())
        self._files = {Path(name).resolve(): name for name in self._data.measured_files()}

    def tests(self, module: Path, line: int) -> list[str]:
        """Tests that run a line, fast ones first; those of the whole module for one that runs when it is imported."""
        name = self._files.get((self._root / module).resolve())
        if name is None:
            return []
        by_line = self._data.contexts_by_lineno(name)
        here = {one for one in by_line.get(line, []) if "::" in one}
        found = here or {one for ones in by_line.values() for one in ones if "::" in one}
        return sorted((one for one in found if one in self._seconds), key=lambda one: (self._seconds[one], one))

    def seconds(self, test: str) -> float:
        """Seconds of a test when it was recorded."""
        return float(self._seconds[test])


def main(tests: list[str]) -> int:
    """Run the tests in this process, which coverage watches."""
    import pytest

    contexts = Contexts()
    status = pytest.main(["-q", "-p", "no:cacheprovider", "-m", _SHORT, *tests], plugins=[contexts])
    (FOLDER / f"seconds-{os.getpid()}.json").write_text(json.dumps(contexts.passed()))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
