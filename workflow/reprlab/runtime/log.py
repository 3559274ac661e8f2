"""Logging to the stage's log file, with the short form on the terminal."""

import logging
import math
import os
import re
import resource
import shlex
import sys
from pathlib import Path

LOGGER_NAME = "reprlab"
_USED = re.compile(r"^used ([0-9.]+) MB at most, ([0-9.]+) CPU seconds$")
# Set by an engine that shows its jobs itself (`reprlab.terminal`): what a stage says then goes to its log alone.
SHOWN_BY_ENGINE = "REPRLAB_SHOWN_BY_ENGINE"
# The log of this process.
_file: Path | None = None
# Where standard error went when this process began, and the log if that is another place.
_terminal = 2
_log: Path | None = None


def get_logger() -> logging.Logger:
    """The logger of the package. Stages use it; they never print."""
    return logging.getLogger(LOGGER_NAME)


def configure_logging(level: str, log: Path | None) -> None:
    """Send records to `log` (all details, below the command that was run) and to standard error (message alone).

    Of several processes of one job (torchrun sets RANK) only the first writes, so that none overwrites its log.
    """
    global _file, _log
    logger = get_logger()
    if os.environ.get("RANK", "0") != "0":
        level, log = "error", None
    logger.setLevel(level.upper())
    logger.propagate = False
    logger.handlers.clear()
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"$ {shlex.join(sys.orig_argv)}\n", encoding="utf-8")
        # Appending, because standard error may go there too.
        to_file = logging.FileHandler(log, mode="a", encoding="utf-8")
        to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(to_file)
    _file, _log = log, None
    if log is not None and os.environ.get(SHOWN_BY_ENGINE):
        _divert(log)
    else:
        _log = log
        terminal = logging.StreamHandler(sys.stderr)
        terminal.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(terminal)


def log_use() -> None:
    """Last line of the log of a stage that is done: what it took; `used` reads it."""
    if _file is None:
        return
    taken = resource.getrusage(resource.RUSAGE_SELF)
    # Bytes on macOS, kilobytes elsewhere.
    peak = taken.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    with _file.open("a", encoding="utf-8") as handle:
        handle.write(f"used {peak:.1f} MB at most, {taken.ru_utime + taken.ru_stime:.1f} CPU seconds\n")


def used(log: Path) -> tuple[float, float]:
    """Peak memory of a stage in MB and its CPU seconds, by the last line of its log; nan where it has none."""
    try:
        *_, last = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return math.nan, math.nan
    found = _USED.search(last)
    return (float(found.group(1)), float(found.group(2))) if found else (math.nan, math.nan)


def write_error(line: str) -> None:
    """The last line of a stage that fails: to its log, where the engine reads it, and to standard error.

    Standard error may be the log; if its disk is full, the line goes where standard error went before.
    """
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
        if _log is not None:
            with _log.open("a", encoding="utf-8") as handle:
                handle.write(line)
    except OSError:
        if _terminal != 2:
            os.write(_terminal, line.encode())


def _divert(log: Path) -> None:
    """Standard error goes to the log, also what libraries write to it without asking Python."""
    global _terminal
    sys.stderr.flush()
    _terminal = os.dup(2)
    handle = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(handle, 2)
    os.close(handle)
