"""The engine's messages in our words: its logger plugin is given the view of the run, a mistyped target a hint."""

import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

from snakemake_logger_plugin_reprlab import LogHandler

from reprlab.planning.measured_tables import job_seconds
from reprlab.runtime.log import SHOWN_BY_ENGINE
from reprlab.terminal.display import Display
from reprlab.terminal.estimate import Estimate, measured_seconds
from reprlab.terminal.hints import TargetHints
from reprlab.terminal.jobs import Jobs


def show_run(
    workflow: Any,
    run: Path,
    targets: Callable[[], Iterable[str]],
    again: Sequence[str] = (),
    elsewhere: tuple[Path, str] | None = None,
) -> None:
    """Let the engine that reads the Snakefile show its jobs our way, and answer a mistyped target with the nearest.

    Stages then write to their logs only. Where the user asked for another view (`--logger`, `--verbose`, `--quiet`,
    `--printshellcmds`) it stays.

    Args:
        workflow: the engine's workflow.
        run: folder of the run, which log paths are relative to.
        targets: gives all that can be asked for.
        again: the settings that ask for the same run.
        elsewhere: checkout and scale, for what jobs took on another machine where the folder has none yet.
    """
    # A job of a cluster: what its stage says belongs to the log of the scheduler too.
    os.environ.pop(SHOWN_BY_ENGINE, None)
    if not workflow.is_main_process:
        return
    seconds = job_seconds(*elsewhere) if elsewhere else {}
    logging.getLogger("snakemake.logging").addFilter(TargetHints(targets))
    for handler in workflow.logger_manager.get_log_handlers():
        if isinstance(handler, LogHandler) and handler.shows:
            handler.view = view_of(run, lambda rule: int(workflow.get_rule(rule).restart_times), seconds=seconds)
            handler.view.again = again
            handler.view.show_logs = workflow.output_settings.show_failed_logs
            os.environ[SHOWN_BY_ENGINE] = "1"


def view_of(
    run: Path,
    retries: Callable[[str], int],
    stream: TextIO | None = None,
    seconds: Mapping[str, float] = MappingProxyType({}),
) -> Display:
    """The view of a run: live on a terminal, lines elsewhere.

    Args:
        run: folder of the run, which log paths are relative to.
        retries: how often a failed job of a rule is tried again.
        stream: where to write; standard error by default.
        seconds: of a job of each rule, as it was elsewhere.
    """
    stream = stream or sys.stderr
    jobs = Jobs(Estimate({**seconds, **measured_seconds(run / "results/benchmarks")}))
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        from reprlab.terminal.screen import Screen

        return Screen(jobs, run, stream, retries)
    return Display(jobs, run, stream, retries)
