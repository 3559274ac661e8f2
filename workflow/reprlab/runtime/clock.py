"""Results from the future: files that were made before the clock was set back.

The engine compares dates: what it makes now from a file of the future is older than its input, which it takes for a
failure of the job, until the clock has caught up.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from reprlab.runtime.seals import RESULTS, is_in_use

# File systems that machines share may be ahead by a moment.
_AHEAD_NS = 10**9


def date_back_results(run_folder: Path, *, dry: bool = False) -> list[str]:
    """Give the results of a run that have a date in the future the date of now, in their order; says so in a line.

    Nothing is done (nor said) while an engine holds the lock of the run. `dry` only counts.
    """
    if is_in_use(run_folder):
        return []
    now = time.time_ns()
    ahead = sorted((path.lstat().st_mtime_ns, path) for path in _entries(run_folder / RESULTS, now + _AHEAD_NS))
    if not dry:
        # A file is as new as what it was made from: equal dates stay equal.
        ranks = {date: rank for rank, date in enumerate(sorted({date for date, _ in ahead}))}
        first = now - len(ranks)
        for date, path in ahead:
            os.utime(path, ns=(now, first + ranks[date]), follow_symlinks=False)
    if not ahead:
        return []
    done = "a run gives them the date of now" if dry else "they have the date of now"
    return [f"{run_folder / RESULTS}: {len(ahead)} files or folders have a date in the future: {done}"]


def _entries(folder: Path, later_than: int) -> Iterator[Path]:
    """Files and folders with a later date than that, in nanoseconds."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.stat(follow_symlinks=False).st_mtime_ns > later_than:
                yield Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(Path(entry.path), later_than)
