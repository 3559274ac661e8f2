"""Put faults into copies of modules, run the tests that know their lines, and say which faults nobody sees.

    make mutants RECORD=yes                  # once, and again when tests were added: which test runs which line
    make mutants PACKAGE=audio               # 40 faults of a package, drawn with a fixed seed; N=0: all of them
    make mutants SINCE=<commit>              # those of the lines that changed since
    make mutants PACKAGE=audio ARGS=--again  # after new tests were recorded: only those that no test saw
    make mutants PACKAGE=audio ARGS=--keep   # add the counts to resources/fault_draws.tsv and to the page
    make mutants PACKAGE=audio ARGS="--seconds 5"   # fewer tests a fault: --again gives survivors more

A fault is killed when a test fails with it or does not end. Those that change nothing stand in `equivalent.tsv`, with
the reason. What was found is kept in `.mutation/` under the content of module and tests; with `--again` a fault that
was killed by other tests stays killed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.mutation import draws
from tests.mutation.operators import Mutant, kinds, mutant, mutants
from tests.mutation.recorded import FOLDER, Recorded, record

PACKAGES = (
    "objectives", "training", "inference", "evaluation", "retrieval", "sentences", "events", "structure", "geometry",
    "features", "coreference", "audio", "music", "models", "statistics", "results", "stages",
)  # fmt: skip
_LIBRARY = Path("workflow/reprlab")
_EQUIVALENT = Path(__file__).with_name("equivalent.tsv")
_KEPT = FOLDER / "results.json"
_KILLED = ("killed", "late")
_COPIED = ("workflow", "tests", "config", "resources", "docs", "profiles", "envs", "benchmarks")


@dataclass(frozen=True)
class Trial:
    """A fault with the tests that may see it."""

    module: Path
    mutant: Mutant
    tests: list[str]
    limit: float

    @property
    def key(self) -> str:
        """Under what its outcome is kept: its source."""
        return hashlib.sha256(f"{self.module}\n{self.mutant.source}".encode()).hexdigest()

    @property
    def seen_by(self) -> str:
        """With what its outcome is kept: the content of the files of its tests."""
        digest = hashlib.sha256()
        for file in sorted({Path(test.partition("::")[0]) for test in self.tests}):
            digest.update(file.read_bytes())
        return digest.hexdigest()

    @property
    def name(self) -> str:
        """The fault in one line, as `equivalent.tsv` has it."""
        return f"{self.module.relative_to(_LIBRARY)}\t{' '.join(self.mutant.change.split())}"


def modules_of(package: str) -> list[Path]:
    """Modules of a package, or one module by its dotted name."""
    place = _LIBRARY / package.replace(".", "/")
    if place.with_suffix(".py").is_file():
        return [place.with_suffix(".py")]
    found = [path for path in sorted(place.rglob("*.py")) if path.name != "__init__.py"]
    if not found:
        raise SystemExit(f"error: PACKAGE: {package}: no package of {_LIBRARY}; there are {', '.join(PACKAGES)}")
    return found


def drawn(package: str, number: int, seed: int, kind: str = "") -> list[tuple[Path, Mutant]]:
    """Faults of a package, `number` of them drawn at random, or all where it is 0 or there are no more."""
    sources = {module: module.read_text(encoding="utf-8") for module in modules_of(package)}
    places = [
        (module, place)
        for module, source in sources.items()
        for place, own in enumerate(kinds(source))
        if not kind or own == kind
    ]
    random.Random(f"{seed} {package}").shuffle(places)
    # Only what is drawn is written out: a package has thousands of faults.
    found = ((module, mutant(sources[module], place)) for module, place in places)
    kept = islice(((module, one) for module, one in found if one), number or None)
    return sorted(kept, key=lambda pair: (pair[0], pair[1].line, pair[1].kind, pair[1].change))


def changed_since(commit: str) -> list[tuple[Path, Mutant]]:
    """Faults of the lines that changed since a commit."""
    command = ["git", "diff", "-U0", "--no-color", commit, "--", str(_LIBRARY)]
    lines: dict[Path, set[int]] = defaultdict(set)
    current = Path()
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith("+++ b/"):
            current = Path(line[6:])
        elif line.startswith("@@"):
            start, _, count = line.split()[2].lstrip("+").partition(",")
            lines[current].update(range(int(start), int(start) + int(count or 1)))
    return [
        (module, one)
        for module, touched in sorted(lines.items())
        if module.is_file() and module.suffix == ".py"
        for one in mutants(module.read_text(encoding="utf-8"), touched)
    ]


def trials(found: list[tuple[Path, Mutant]], recorded: Recorded, budget: float) -> list[Trial]:
    """Each fault with its tests, fast ones first, as many as were recorded to take `budget` seconds together."""
    planned = []
    for module, one in found:
        tests, seconds = [], 0.0
        for test in recorded.tests(module, one.line):
            seconds += recorded.seconds(test)
            if tests and seconds > budget:
                break
            tests.append(test)
        planned.append(Trial(module, one, tests, 20 + 3 * min(seconds, 2 * budget)))
    return planned


def _preload() -> None:
    """What all tests import, but for the code that is changed: children are forked from here."""
    import datasets  # noqa: F401
    import hypothesis  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import pandas  # noqa: F401
    import peft  # noqa: F401
    import pydantic  # noqa: F401
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401
    import sklearn.linear_model  # noqa: F401
    import torch
    import transformers

    torch.set_num_threads(1)
    for name in ("BertModel", "T5ForConditionalGeneration", "LlamaForCausalLM", "GPT2LMHeadModel", "AutoTokenizer"):
        getattr(transformers, name)


def _child(trial: Trial, copy: Path) -> int:
    """Start the tests of a trial in a fork; its process id."""
    pid = os.fork()
    if pid:
        return pid
    status = 2
    try:
        os.setsid()
        os.chdir(copy)
        sys.path[:0] = [str(copy / "workflow"), str(copy)]
        os.environ["PYTHONPATH"] = os.pathsep.join([str(copy / "workflow"), str(copy)])
        for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "reprlab")]:
            del sys.modules[name]
        silent = os.open(copy / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        import pytest

        status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *trial.tests]))
    finally:
        os._exit(status)


class Worker:
    """One copy of the checkout, and the trial that runs in it."""

    def __init__(self, root: Path, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", "downloads", ".venv")
        for name in _COPIED:
            shutil.copytree(root / name, place / name, symlinks=True, ignore=ignored)
        for path in root.iterdir():
            if path.is_file() and path.name != ".git":
                shutil.copyfile(path, place / path.name)
        (place / ".venv").symlink_to((root / ".venv").resolve())
        self.place = place.resolve()
        self.trial: Trial | None = None
        self._pid, self._since = 0, 0.0

    def start(self, trial: Trial) -> None:
        (self.place / trial.module).write_text(trial.mutant.source, encoding="utf-8")
        self.trial, self._since = trial, time.monotonic()
        self._pid = _child(trial, self.place)

    def outcome(self) -> str:
        """killed, survived or late; empty while it runs."""
        assert self.trial
        done, status = os.waitpid(self._pid, os.WNOHANG)
        late = time.monotonic() - self._since > self.trial.limit
        if not done and not late:
            return ""
        if not done:
            os.killpg(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        shutil.copyfile(self.trial.module, self.place / self.trial.module)
        if not done:
            return "late"
        return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"


def known() -> dict[str, tuple[str, str]]:
    """What was found so far: outcome, and what it was seen by, by the keys of trials."""
    return json.loads(_KEPT.read_text()) if _KEPT.exists() else {}


def run(planned: list[Trial], jobs: int, *, again: bool) -> None:
    """Find outcomes: killed, late, survived, or untested where no test runs the line.

    With `again` what was killed by other tests stays killed.
    """
    kept = known()
    waiting = []
    for trial in planned:
        outcome, seen_by = kept.get(trial.key, ("", ""))
        if again and outcome in _KILLED:
            continue
        if not trial.tests:
            kept[trial.key] = ("untested", "")
        elif seen_by != trial.seen_by:
            waiting.append(trial)
    if waiting:
        _preload()
        root = Path.cwd()
        workers = [Worker(root, FOLDER / f"copy-{number}") for number in range(jobs)]
        started = time.monotonic()
        total, waiting = len(waiting), waiting[::-1]
        while waiting or any(worker.trial for worker in workers):
            for worker in workers:
                if worker.trial and (outcome := worker.outcome()):
                    kept[worker.trial.key] = (outcome, worker.trial.seen_by)
                    _KEPT.write_text(json.dumps(kept, indent=0))
                    worker.trial = None
                    done = total - len(waiting) - sum(one.trial is not None for one in workers)
                    sys.stderr.write(f"\r{done} of {total}, {time.monotonic() - started:.0f} s ")
                if not worker.trial and waiting:
                    worker.start(waiting.pop())
            time.sleep(0.05)
        sys.stderr.write("\n")
    _KEPT.write_text(json.dumps(kept, indent=0))


def equivalent() -> dict[str, str]:
    """Faults that change nothing, with the reason."""
    rows = [line.split("\t") for line in _EQUIVALENT.read_text(encoding="utf-8").splitlines()[1:]]
    return {f"{module}\t{change}": reason for module, change, reason in rows}


def counts(planned: list[Trial], outcomes: dict[str, str]) -> list[draws.Draw]:
    """What became of the faults of each package."""
    same = equivalent()
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for trial in planned:
        outcome = "equivalent" if trial.name in same else outcomes.get(trial.key, "not run")
        found[trial.module.relative_to(_LIBRARY).parts[0]]["killed" if outcome in _KILLED else outcome] += 1
    return [
        draws.Draw(package, one.total(), *(one[name] for name in ("killed", "survived", "untested", "equivalent")))
        for package, one in sorted(found.items())
    ]


def main() -> int:
    """Print survivors, then the scores; 1 where the share of killed ones is below `--least`."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--package", action="append", help="a package or module of reprlab; all that compute by default"
    )
    parser.add_argument("--since", default="", help="only lines that changed since this commit")
    parser.add_argument("--number", type=int, default=40, help="faults drawn a package; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--kind", default="", help="faults of this kind alone, as 'ignored seed'; not kept")
    parser.add_argument("--seconds", type=float, default=30, help="of recorded test time that a fault gets at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="copies that work at once")
    parser.add_argument("--record", action="store_true", help="record first which test runs which line")
    parser.add_argument("--tests", nargs="+", default=["tests/unit"], help="what is recorded")
    parser.add_argument("--again", action="store_true", help="what was killed by other tests stays killed")
    parser.add_argument(
        "--keep", action="store_true", help=f"add the counts to {draws.RECORD.name}, and write the page"
    )
    parser.add_argument("--least", type=float, default=0.0, help="percent that must be killed")
    given = parser.parse_args()
    if given.record:
        record(Path.cwd(), given.tests, given.jobs)
    recorded = Recorded(Path.cwd())
    packages = given.package or PACKAGES
    found = (
        changed_since(given.since)
        if given.since
        else [one for package in packages for one in drawn(package, given.number, given.seed, given.kind)]
    )
    planned = trials(found, recorded, given.seconds)
    run(planned, given.jobs, again=given.again)
    outcomes = {key: outcome for key, (outcome, _) in known().items()}
    same = equivalent()
    for trial in planned:
        if outcomes[trial.key] not in _KILLED and trial.name not in same:
            why = "no test runs the line" if outcomes[trial.key] == "untested" else f"{len(trial.tests)} tests pass"
            print(f"{trial.module}:{trial.mutant.line}: {trial.mutant.kind}: {why}\n{trial.mutant.change}\n")
    counted = counts(planned, outcomes)
    sys.stdout.write(draws.table([(one, one) for one in counted]))
    if given.keep and not given.kind:
        draws.keep(counted, given.seed)
    killed, judged = sum(one.killed for one in counted), sum(one.judged for one in counted)
    print(f"{killed} of {judged} faults killed" + (f", {100 * killed / judged:.1f} %" if judged else ""))
    return int(bool(judged) and 100 * killed / judged < given.least)


if __name__ == "__main__":
    sys.exit(main())
