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
    ahead = sorted(_entries(run_folder / RESULTS, now + _AHEAD_NS))
    if not ahead:
        return []
    found = f"{run_folder / RESULTS}: {len(ahead)} files or folders have a date in the future"
    if dry:
        return [f"{found}: a run gives them the date of now"]
    # A file is as new as what it was made from: equal dates stay equal.
    ranks = {date: rank for rank, date in enumerate(sorted({date for date, _ in ahead}))}
    first = now - len(ranks)
    try:
        for date, path in ahead:
            os.utime(path, ns=(now, first + ranks[date]), follow_symlinks=False)
    except OSError as error:
        return [f"{found}, and {path} cannot be dated back ({error.strerror}); let its owner `touch` it"]
    return [f"{found}: they have the date of now"]


def _entries(folder: Path, later_than: int) -> Iterator[tuple[int, Path]]:
    """Files and folders with a later date than that, in nanoseconds, after their dates."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if (date := entry.stat(follow_symlinks=False).st_mtime_ns) > later_than:
                yield date, Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(Path(entry.path), later_than)
