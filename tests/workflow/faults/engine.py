"""Starting, watching and killing runs of the workflow, and comparing what they leave."""

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from tests.checkouts import Checkout

# The one place that says what need not be the same twice: clocks (throughput, seconds and memory of a training, the
# report's times, benchmarks), logs, resume points of unfinished runs, and seals and the engine's mark, which hold the
# times of files.
EXEMPT = re.compile(
    r"results/(?:(?:logs|benchmarks|work|\.seals)/.*|report\.html|summary\.tsv|settings\.yaml|(?:.*/)?throughput\.tsv"
    r"|shared/encoders/.*/cost\.tsv"
    r"|(?:.*/)?\.snakemake_timestamp|.*\.changed-\d+(?:/.*)?)"
)
# Between two looks at what a run is doing.
_PAUSE = 0.005


def digests(run: Path, *below: str) -> dict[str, str]:
    """Path to sha256 of the results of a run, but for what is exempt; `below` keeps those that start so."""
    found = {}
    for path in sorted((run / "results").rglob("*")):
        name = path.relative_to(run).as_posix()
        if path.is_file() and not EXEMPT.fullmatch(name) and (not below or name.startswith(below)):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def half_written(run: Path) -> list[Path]:
    """Temporary names that a stage left among the results. What vanishes during the look is passed over."""
    found: list[Path] = []
    for folder, folders, files in os.walk(run / "results"):
        folders[:] = [name for name in folders if name != "work"]
        found += [Path(folder, name) for name in (*folders, *files) if fnmatch(name, ".*.part*")]
    return found


def error_lines(output: str) -> list[str]:
    """The project's own lines for the user."""
    return [line.strip() for line in output.splitlines() if line.strip().startswith("error: ")]


class Run:
    """One engine started in a checkout, in a session of its own; its output goes to a file."""

    def __init__(self, checkout: Checkout, *arguments: str, log: Path, **variables: str) -> None:
        self.checkout = checkout
        self.log = log
        with log.open("w", encoding="utf-8") as output:
            self.process = subprocess.Popen(
                checkout.command(*arguments),
                cwd=checkout.root,
                env=checkout.environment(**variables),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait(self, timeout: float = 600) -> int:
        return self.process.wait(timeout)

    def wait_until(self, condition: Callable[[], object], timeout: float = 300) -> bool:
        """Whether the condition came true before the engine ended."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if condition():
                return True
            if self.process.poll() is not None:
                return bool(condition())
            time.sleep(_PAUSE)
        raise AssertionError(f"nothing happened for {timeout} s:\n{self.output[-3000:]}")

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signal the engine alone."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def stop(self) -> None:
        """Whatever was started: gone."""
        for pid, _ in processes(self.checkout.root):
            kill(pid)
        self.process.wait(30)


def processes(root: Path) -> Iterator[tuple[int, str]]:
    """(pid, command line) of every process that works in the checkout."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.joinpath("stat").read_text().rpartition(")")[2].split()[0] == "Z":
                continue
            where = (folder / "cwd").readlink()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if where.is_relative_to(root) and int(folder.name) != os.getpid():
            yield int(folder.name), command


def stages(root: Path, name: str = "") -> list[int]:
    """Pids of the stages (not of their shells) that run in the checkout; without a name also of what forks them."""
    forking = "" if name else "|runtime\\.preloaded"
    pattern = re.compile(rf"^\S*python\S* (?:-\S+ )*(?:.*/hand_over\.py )?-m reprlab\.(?:stages\.{name}{forking})")
    return [pid for pid, command in processes(root) if pattern.search(command)]


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def gone(root: Path, seconds: float = 15) -> bool:
    """Whether every stage in the checkout ended within `seconds`."""
    end = time.monotonic() + seconds
    while stages(root):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def failing_stage(checkout: Checkout, name: str, *options: str, source: Path | None = None) -> str:
    """A stage by hand, as its shell line can be pasted; returns the one line that it must fail with."""
    variables = {**checkout.environment(), "PYTHONPATH": str((source or checkout.root) / "workflow")}
    done = subprocess.run(
        [sys.executable, "-m", f"reprlab.stages.{name}", *options], cwd=checkout.nano, text=True, capture_output=True,
        env=variables, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    (line,) = error_lines(done.stderr)
    assert "Traceback" not in done.stderr
    return line
