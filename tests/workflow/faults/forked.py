"""Stages as children of one process that has imported what they import: a kill costs no start of an interpreter.

The child does what `python -m reprlab.stages.<stage> --plan … --job …` does, from the folder of the run.
"""

import contextlib
import importlib
import inspect
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.runtime.code_digest import edited_modules
from reprlab.runtime.plan_file import PlannedJob
from reprlab.runtime.seals import read_seal
from reprlab.runtime.stale import Results

from tests.workflow.faults.engine import digests, half_written

# Between two looks at a child.
_PAUSE = 0.002


class Child:
    """A running stage."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None

    def ended(self, seconds: float = 0, until: Callable[[], object] = lambda: False) -> bool:
        """Whether it ended before `seconds` passed or `until` came true."""
        end = time.monotonic() + seconds
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end or until():
                return False
            else:
                time.sleep(_PAUSE)
        return True

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.ended(60)


class ForkedStage:
    """One planned job in a run that holds its inputs."""

    def __init__(self, run: Path, plan: Path, job: PlannedJob) -> None:
        self.run, self.plan, self.job = run, plan, job
        self.function = getattr(importlib.import_module(f"reprlab.stages.{job.stage}"), job.stage)
        self.resumes = "work" in inspect.signature(self.function).parameters and _trains(job)
        self.output = run.parent / f"{job.stage}.output"
        # Its answer is kept and inherited, so that no child parses the code.
        assert edited_modules(job.code) == []
        self._import_what_it_imports()
        self.expected = self.made()
        assert self.expected, "nothing to compare"
        self.seconds = 0.0
        self.forget()
        assert self.finishes(save_every=500) == "", "it is not the same twice"

    def start(self, save_every: int) -> Child:
        """A child that runs the stage."""
        pid = os.fork()
        if pid:
            return Child(pid)
        self._be_the_stage(save_every)

    def _be_the_stage(self, save_every: int, imported: Path | None = None) -> None:
        status = 99
        try:
            os.setsid()
            os.chdir(self.run)
            # Unbuffered by us: nothing that the parent has not yet written may be written twice.
            output = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
            arguments = ["--plan", str(self.plan), "--job", self.job.key, "--save-every", str(save_every)]
            run_stage(self.function, [*arguments, "--device", "cpu"])
            if imported:
                imported.write_text("\n".join(sys.modules))
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)

    def _import_what_it_imports(self) -> None:
        """Let the stage run once in a child, which makes what later ends are held against, and import as it did."""
        self.forget()
        imported = self.run.parent / f"{self.job.stage}.imported"
        pid = os.fork()
        if not pid:
            self._be_the_stage(500, imported)
        child = Child(pid)
        assert child.ended(600) and child.status == 0, self.said
        for name in imported.read_text().splitlines():
            if name not in sys.modules:
                # Some are made up while others are imported, and cannot be asked for by name: children do as they did.
                with contextlib.suppress(Exception):
                    importlib.import_module(name)

    @property
    def said(self) -> str:
        """What the last child wrote, and its log."""
        logs = self.run.glob(f"results/logs/{self.job.stage}/{self.job.key.replace('/', '.')}.log")
        return self.output.read_text(errors="replace") + "".join(log.read_text(errors="replace") for log in logs)

    def made(self) -> dict[str, str]:
        """Path to sha256 of the outputs that stand."""
        return digests(self.run, *self.job.outputs.values())

    def resume_points(self) -> list[Path]:
        """What an unfinished run can go on from: complete saves."""
        work = self.run / f"results/work/{self.job.stage}/{self.job.key}"
        return [path for path in work.rglob("resume-*/state.json") if not path.parent.name.startswith(".")]

    def forget_outputs(self) -> None:
        """As the engine does when a job has failed."""
        for path in (self.run / name for name in self.job.outputs.values()):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def forget(self) -> None:
        """Outputs, seals and what unfinished runs left."""
        self.forget_outputs()
        for path in self.job.outputs.values():
            self.run.joinpath("results/.seals", path.removeprefix("results/") + ".json").unlink(missing_ok=True)
        shutil.rmtree(self.run / f"results/work/{self.job.stage}/{self.job.key}", ignore_errors=True)

    def half_made(self) -> str:
        """An output that stands under its name and is not whole; "" where there is none."""
        made = self.made()
        for path in self.job.outputs.values():
            wanted = {name: one for name, one in self.expected.items() if name == path or name.startswith(f"{path}/")}
            found = {name: one for name, one in made.items() if name in wanted or name.startswith(f"{path}/")}
            if (self.run / path).exists() and found != wanted:
                return path
        return ""

    def finishes(self, save_every: int) -> str:
        """Run the stage, undisturbed; the problem with what it leaves, or ""."""
        begun = time.monotonic()
        child = self.start(save_every)
        if not child.ended(600) or child.status:
            return f"it ended with {child.status}: {self.said[-1500:]}"
        self.seconds = time.monotonic() - begun
        if (made := self.made()) != self.expected:
            return f"differ: {[name for name in self.expected if made.get(name) != self.expected[name]][:3]}"
        if left := half_written(self.run):
            return f"left over: {left[0]}"
        outputs, results = list(self.job.outputs.values()), Results(self.run, thorough=True)
        if changed := [one for path in outputs for one in results.of_result(path) if one.kind == "edited"]:
            return f"sealed as another: {changed}"
        seals = {path: read_seal(path, self.run) for path in outputs}
        unsigned = [path for path, seal in seals.items() if seal is None or seal.made.job != self.job.digest]
        return f"not signed: {unsigned}" if unsigned else ""


def _trains(job: PlannedJob) -> bool:
    """Whether a job makes an update: one of none (the twin without training) has nothing to save."""
    settings = job.settings.get("settings", "{}")
    given = json.loads(settings) if isinstance(settings, str) else settings
    return bool(given.get("engine", {}).get("steps", 1) != 0)
