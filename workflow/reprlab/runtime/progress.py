"""Progress: a bar on a terminal, a line now and then in a log, a small file for the engine that shows it."""

import atexit
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from reprlab.runtime.log import get_logger

T = TypeVar("T")
# A job's file of progress lies beside its log.
PROGRESS_ENDING = ".progress"
_SECONDS_BETWEEN_LINES = 30.0
_SECONDS_BETWEEN_FILES = 1.0
_file: Path | None = None
# What is under way, the outermost first: a sweep over models, then the training of one.
_under_way: list[str] = []


def report_beside(log: Path) -> None:
    """Let `track` say how far this process is in a file beside its log; the file goes when the process ends."""
    global _file
    if os.environ.get("RANK", "0") != "0":
        return  # of several processes of one job only the first reports
    _file = log.with_name(log.name + PROGRESS_ENDING)
    atexit.register(_file.unlink, missing_ok=True)


def track(items: Iterable[T], description: str, total: int | None = None, initial: int = 0) -> Iterator[T]:
    """Yield `items` while reporting how many of `total` are done; what is tracked meanwhile is beside it."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    if sys.stderr.isatty():
        from tqdm import tqdm

        yield from tqdm(items, desc=description, total=total, initial=initial, dynamic_ncols=True, leave=False)
        return
    of = f" of {total}" if total is not None else ""
    last_line = time.monotonic()
    last_file = 0.0
    depth = len(_under_way)
    _under_way.append(f"{description}: {initial}{of}")
    try:
        for count, item in enumerate(items, start=initial):
            yield item
            _under_way[depth:] = [f"{description}: {count + 1}{of}"]
            now = time.monotonic()
            if now - last_file > _SECONDS_BETWEEN_FILES:
                last_file = now
                _write()
            if now - last_line > _SECONDS_BETWEEN_LINES:
                last_line = now
                get_logger().info("%s", _under_way[depth])
    finally:
        del _under_way[depth:]


def _write() -> None:
    global _file
    try:
        if _file:
            _file.write_text(", ".join(_under_way) + "\n", encoding="utf-8")
    except OSError as error:
        get_logger().info("progress is not shown: %s", error)
        _file = None
