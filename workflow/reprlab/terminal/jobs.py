"""The jobs of a run as the engine tells of them: which run, how far each is, what is done of how much."""

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from reprlab.runtime.progress import PROGRESS_ENDING
from reprlab.terminal.estimate import Estimate, in_words


@dataclass(frozen=True)
class RunningJob:
    """A job that has started."""

    rule: str
    title: str
    log: Path | None
    outputs: tuple[Path, ...] = ()
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since it started."""
        return time.monotonic() - self.started

    @property
    def progress(self) -> str:
        """How far it says it is, such as `64 of 512 training`; empty where it says nothing."""
        if not self.log:
            return ""
        try:
            return self.log.with_name(self.log.name + PROGRESS_ENDING).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def lines(self, level: str) -> list[str]:
        """Messages of a level in its log, such as WARNING."""
        return [line.partition(f" {level} ")[2] for line in self._log() if f" {level} " in line[:40]]

    @property
    def reason(self) -> str:
        """Why it failed: the line that a stage ends with; empty where its log has none."""
        errors = [line.removeprefix("error: ") for line in self._log() if line.startswith("error: ")]
        return errors[-1] if errors else ""

    def _log(self) -> list[str]:
        try:
            return self.log.read_text(encoding="utf-8", errors="replace").splitlines() if self.log else []
        except OSError:
            return []


class Jobs:
    """All jobs of one engine."""

    def __init__(self, estimate: Estimate) -> None:
        self.estimate = estimate
        self.total = self.done = self.failed = 0
        self.lanes = 1
        self.running: dict[int, RunningJob] = {}
        self.started = time.monotonic()
        self._waiting: Counter[str] = Counter()

    def plan(self, counts: dict[str, int]) -> None:
        """The engine has planned this many jobs of each rule."""
        self._waiting = Counter({rule: count for rule, count in counts.items() if rule != "total"})
        self.total = sum(self._waiting.values())

    def start(self, number: int, job: RunningJob) -> None:
        """A job starts (again)."""
        self.running[number] = job
        self._waiting[job.rule] -= self._waiting[job.rule] > 0

    def finish(self, number: int) -> RunningJob | None:
        """A job has ended well."""
        self.done += 1
        job = self.running.pop(number, None)
        if job:
            self.estimate.saw(job.rule, job.seconds)
        return job

    def fail(self, number: int) -> None:
        """A job has failed for good."""
        self.failed += 1
        del self.running[number]

    def retry(self, number: int) -> None:
        """A job has failed and waits again."""
        self._waiting[self.running.pop(number).rule] += 1

    def listed(self, most: int = 12) -> list[RunningJob]:
        """The jobs that run, the longest first; of very many the first."""
        return list(self.running.copy().values())[:most]

    @property
    def left(self) -> str:
        """`, about 6 min left`; empty while nobody knows."""
        running = [(job.rule, job.seconds) for job in self.running.copy().values()]
        seconds = self.estimate.left(self._waiting, running, self.lanes)
        return "" if seconds is None or self.done == self.total else f", about {in_words(seconds)} left"

    @property
    def counted(self) -> str:
        """`12 of 148 jobs`."""
        return f"{self.done} of {self.total} job{'s' * (self.total != 1)}"
