"""Logging to the stage's log file, with the short form on the terminal."""

import logging
import os
import sys
from pathlib import Path

LOGGER_NAME = "reprlab"


def get_logger() -> logging.Logger:
    """The logger of the package. Stages use it; they never print."""
    return logging.getLogger(LOGGER_NAME)


def configure_logging(level: str, log: Path | None) -> None:
    """Send records to `log` (all details) and to standard error (message alone).

    Of several processes of one job (torchrun sets RANK) only the first writes, so that none overwrites its log.
    """
    logger = get_logger()
    if os.environ.get("RANK", "0") != "0":
        level, log = "error", None
    logger.setLevel(level.upper())
    logger.propagate = False
    logger.handlers.clear()
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(terminal)
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        to_file = logging.FileHandler(log, mode="w", encoding="utf-8")
        to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(to_file)
