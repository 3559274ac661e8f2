"""Progress: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

from reprlab.runtime.log import get_logger

T = TypeVar("T")
_SECONDS_BETWEEN_LINES = 30.0


def track(items: Iterable[T], description: str, total: int | None = None, initial: int = 0) -> Iterator[T]:
    """Yield `items` while reporting how many of `total` are done."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    if sys.stderr.isatty():
        yield from tqdm(items, desc=description, total=total, initial=initial, dynamic_ncols=True, leave=False)
        return
    last = time.monotonic()
    for count, item in enumerate(items, start=initial):
        yield item
        if time.monotonic() - last > _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            get_logger().info("%s: %d of %s", description, count + 1, total if total is not None else "?")
