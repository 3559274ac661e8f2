"""Our view in the place of the engine's.

Snakemake finds logger plugins in the environment that runs it, which need not be installed from this checkout; so the
Snakefile puts the view in the place of the engine's stream handler, unless the user asked for another one (`--logger`,
`--verbose`, `--quiet`, `--printshellcmds`).
"""

import logging
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TextIO

from reprlab.runtime.log import SHOWN_BY_ENGINE
from reprlab.terminal.display import Display
from reprlab.terminal.estimate import Estimate, measured_seconds
from reprlab.terminal.hints import TargetHints
from reprlab.terminal.jobs import Jobs

_LOGGER = "snakemake.logging"
# Its name for the handler that we replace.
_DEFAULT = "DefaultStreamHandler"


def take_over(workflow: Any, run: Path, targets: Callable[[], Iterable[str]]) -> None:
    """Let the engine that reads the Snakefile show its jobs our way, and answer a mistyped target with the nearest.

    Args:
        workflow: the engine's workflow.
        run: folder of the run, which log paths are relative to.
        targets: gives all that can be asked for.
    """
    if not workflow.is_main_process:
        # A job of a cluster: what its stage says belongs to the log of the scheduler too.
        os.environ.pop(SHOWN_BY_ENGINE, None)
        return
    logging.getLogger(_LOGGER).addFilter(TargetHints(targets))
    if leaves_view(workflow.output_settings):
        shown = show_jobs(run, lambda rule: int(workflow.get_rule(rule).restart_times))
        if shown:
            shown.show_logs = workflow.output_settings.show_failed_logs


def leaves_view(settings: Any) -> bool:
    """Whether the user left the view to us; a dry run is the engine's own listing."""
    other = settings.dryrun or settings.quiet or settings.verbose or settings.debug_dag or settings.printshellcmds
    return not other


def show_jobs(run: Path, retries: Callable[[str], int], stream: TextIO | None = None) -> Display | None:
    """Let the engine of this process show its jobs this way, unless by a plugin; stages then write to their logs only.

    Args:
        run: folder of the run, which log paths are relative to.
        retries: how often a failed job of a rule is tried again.
        stream: where to write; standard error by default.
    """
    logger = logging.getLogger(_LOGGER)
    default = next((handler for handler in logger.handlers if handler.name == _DEFAULT), None)
    if default is None:
        return None
    stream = stream or sys.stderr
    jobs = Jobs(Estimate(measured_seconds(run / "results/benchmarks")))
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        from reprlab.terminal.screen import Screen

        display: Display = Screen(jobs, run, stream, retries)
    else:
        display = Display(jobs, run, stream, retries)
    logger.removeHandler(default)
    logger.addHandler(display)
    os.environ[SHOWN_BY_ENGINE] = "1"
    return display
