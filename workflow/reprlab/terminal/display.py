"""The engine's messages as people read them: short lines, a failure once."""

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from snakemake_interface_logger_plugins.common import LogEvent

from reprlab.terminal.estimate import in_words
from reprlab.terminal.jobs import Jobs, RunningJob

_SECONDS_BETWEEN_LINES = 60.0
# What the engine says besides its events and people can do without; its own log file has it.
_LEFT_OUT = (
    "Building DAG of jobs",
    "Using shell",
    "Group jobs: inactive",
    "Select jobs to execute",
    "Removing output files of failed job",
    "Shutting down",
    "Complete log(s)",
    "Trying to restart job",
    # The failed job has said it better.
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not complete successfully",
    "At least one job did not complete successfully",
)


_SHOWN = ("tabulate_paper", "test_claims")
"""Stages whose first output people read when a run ends."""
_REPORT = "write_report"


class Display(logging.Handler):
    """Shows records of the engine's logger."""

    again: Sequence[str] = ()
    """The settings that ask for the same run, as scale=nano."""
    show_logs = False
    """Whether the log of a failed job is shown whole (`--show-failed-logs`)."""

    def __init__(self, jobs: Jobs, run: Path, stream: TextIO, retries: Callable[[str], int]) -> None:
        super().__init__()
        self.jobs, self.run, self.stream, self.retries = jobs, run, stream, retries
        self.called_from = Path.cwd()
        self.interrupted = False
        self.made: list[Path] = []
        self.report = self.run / "results"
        self._attempts: Counter[int] = Counter()
        self._ended = threading.Event()
        self._said = time.monotonic()
        self._events: dict[Any, Callable[[logging.LogRecord], None]] = {
            LogEvent.RUN_INFO: self._planned,
            LogEvent.RESOURCES_INFO: self._resources,
            LogEvent.JOB_INFO: self._started,
            LogEvent.JOB_FINISHED: self._finished,
            LogEvent.JOB_ERROR: self._failed,
            LogEvent.GROUP_ERROR: self._group_failed,
            LogEvent.ERROR: self._error,
        }

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record; what is not for people goes to the engine's own log file only."""
        try:
            event = getattr(record, "event", None)
            if event is None:
                self._message(record)
            elif event in self._events:
                self._events[event](record)
        except (KeyboardInterrupt, SystemExit, BrokenPipeError):
            raise
        except Exception:
            self.handleError(record)

    def say(self, line: str) -> None:
        """One line for the user."""
        self._said = time.monotonic()
        self.stream.write(line + "\n")
        self.stream.flush()

    def begin(self) -> None:
        """The jobs are known and start now."""
        jobs = self.jobs
        self.say(f"{jobs.counted.removeprefix('0 of ')}, {jobs.lanes} at once{jobs.left}")
        threading.Thread(target=self._tell_now_and_then, daemon=True, name="display").start()

    def end(self) -> None:
        """No further job runs."""
        self._ended.set()

    def _tell_now_and_then(self) -> None:
        """The running jobs, where none has ended for a while."""
        while not self._ended.wait(_SECONDS_BETWEEN_LINES):
            if time.monotonic() - self._said > _SECONDS_BETWEEN_LINES and self.jobs.running:
                running = [f"{job.title} ({job.progress or in_words(job.seconds)})" for job in self.jobs.listed()]
                self.say(f"{self.jobs.counted}{self.jobs.left}; running: {', '.join(running)}")

    def _planned(self, record: logging.LogRecord) -> None:
        self.jobs.plan(record.stats)  # type: ignore[attr-defined]
        self.begin()

    def _resources(self, record: logging.LogRecord) -> None:
        self.jobs.lanes = getattr(record, "cores", None) or getattr(record, "nodes", None) or self.jobs.lanes

    def _started(self, record: logging.LogRecord) -> None:
        fields = record.__dict__
        logs = fields["log"]
        title = fields["rule_msg"] or fields["rule_name"]
        outputs = tuple(map(Path, fields.get("output") or ()))
        job = RunningJob(fields["rule_name"], title, self.run / logs[0] if logs else None, outputs)
        self.jobs.start(fields["jobid"], job)

    def _finished(self, record: logging.LogRecord) -> None:
        job = self.jobs.finish(record.job_id)  # type: ignore[attr-defined]
        if job:
            self.made += job.outputs[: job.rule in _SHOWN]
            if job.rule == _REPORT and job.outputs:
                self.report = self.run / job.outputs[0]
            self.done(job)
            self._warn(job)

    def _warn(self, job: RunningJob) -> None:
        """Warnings of the stage, which may be why it failed or took long."""
        for warning in job.lines("WARNING"):
            self.say(f"  warning: {warning}")

    def done(self, job: RunningJob) -> None:
        """Tell of a job that has ended well."""
        self.say(f"{self.jobs.counted}{self.jobs.left}: {job.title} ({in_words(job.seconds)})")

    def _failed(self, record: logging.LogRecord) -> None:
        number = record.jobid  # type: ignore[attr-defined]
        job = self.jobs.running.get(number)
        if job is None or self.interrupted:
            return
        self._attempts[number] += 1
        if self._attempts[number] <= self.retries(job.rule):
            self.jobs.retry(number)
            self.say(f"tried again: {job.title} ({job.reason or 'it ended without a reason'})")
            self._warn(job)
            return
        self.jobs.fail(number)
        self.say(f"failed: {job.rule} ({job.title})")
        nothing = "  its log gives no reason: see above, or the job was killed"
        self.say(f"error: {job.reason}" if job.reason else nothing)
        self._warn(job)
        for log in (self.run / name for name in record.log):  # type: ignore[attr-defined]
            if log.exists():
                self.say(f"  log: {os.path.relpath(log, self.called_from)}")
                for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if self.show_logs else []:
                    self.say(f"    {line}")

    def _group_failed(self, record: logging.LogRecord) -> None:
        self.say(f"failed: the group of jobs {record.__dict__.get('groupid', '')}; {record.getMessage()}")

    def _error(self, record: logging.LogRecord) -> None:
        # The exit status of a stage that has failed already, or is about to be told of.
        if record.exception in {"CalledProcessError", "RuleException"}:  # type: ignore[attr-defined]
            return
        self._message(record)

    def _message(self, record: logging.LogRecord) -> None:
        text = record.getMessage().strip()
        if text.startswith("Terminating processes on user request"):
            self.interrupted = True
            self.say("stopping: jobs that can save what they have do so now")
        elif text.startswith("Elapsed time:"):
            self.end()
            self._sum_up()
        elif record.levelno >= logging.INFO and text and not text.startswith(_LEFT_OUT):
            self.say(text)

    def _sum_up(self) -> None:
        counted = f"{self.jobs.counted} done in {in_words(time.monotonic() - self.jobs.started)}"
        if self.interrupted:
            self.say(f"stopped, {counted}; run the same command to go on")
        elif self.jobs.failed:
            self.say(f"{self.jobs.failed} failed, {counted}; mend it and run the same command to go on")
        else:
            what = "the report is" if self.report.suffix else "results are in"
            self.say(f"{counted}; {what} {os.path.relpath(self.report, self.called_from)}")
            self.show_made()

    def show_made(self) -> None:
        """Show what the run has made; only a terminal does."""
