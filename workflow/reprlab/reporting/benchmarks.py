"""Seconds and memory of the stages, from the files that Snakemake's `benchmark:` writes.

It measures the memory of the process that a rule's command starts. Where a run forks its jobs from another process
(`runtime.preloaded`), memory is what their logs say at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_tsv
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import used

if TYPE_CHECKING:
    import pandas

COLUMNS = ("stage", "job", "seconds", "peak_mb")


def read_benchmarks(folder: Path) -> pandas.DataFrame:
    """One row per job: `<folder>/<stage>/<job>.tsv`. Without files, or without the folder, there are no rows."""
    import pandas

    rows = []
    forked = _jobs_are_forked(folder.parent / "settings.yaml")
    for path in sorted(folder.glob("*/*.tsv")):
        try:
            frame = read_tsv(path)
        except ReprlabError:
            continue  # cut off by a kill or a power cut; times are not results, so the report goes without them
        if "s" not in frame or frame.empty or not pandas.api.types.is_numeric_dtype(frame["s"]):
            continue
        if forked:
            peak, _ = used(folder.parent / "logs" / path.parent.name / f"{path.stem}.log")
        else:
            peak = pandas.to_numeric(frame.get("max_rss", pandas.Series(dtype=float)), errors="coerce").max()
        rows.append((path.parent.name, path.stem, float(frame["s"].sum()), peak))
    return pandas.DataFrame(rows, columns=list(COLUMNS))


def cpu_seconds(folder: Path, files: Sequence[str]) -> float | None:
    """CPU seconds of some jobs together, by the end of each one's log, else by the engine's samples of it.

    Args:
        folder: of the benchmark files.
        files: theirs, `<stage>/<job>.tsv`.

    Returns:
        None where there is no job, or where nothing says it of one.
    """
    found = [_cpu_seconds(folder, Path(file)) for file in files]
    known = [one for one in found if one is not None]
    return sum(known) if known and len(known) == len(found) else None


def _cpu_seconds(folder: Path, file: Path) -> float | None:
    _, seconds = used(folder.parent / "logs" / file.with_suffix(".log"))
    if not math.isnan(seconds):
        return seconds
    try:
        sampled = [row["cpu_time"] for row in read_tsv(folder / file, text=True).to_dict("records")]
        return sum(map(float, sampled)) if sampled else None
    except (ReprlabError, KeyError, ValueError):
        return None


def _jobs_are_forked(settings: Path) -> bool:
    from reprlab.settings.yaml_text import read_yaml

    if not settings.is_file():
        return False
    values = read_yaml(settings).values
    return values["scale"] in values["runtime"].get("preloaded", [])


def by_stage(jobs: pandas.DataFrame) -> pandas.DataFrame:
    """Jobs, seconds and the highest peak memory of each stage, the slowest first."""
    grouped = jobs.groupby("stage", sort=True).agg(
        jobs=("job", "size"), seconds=("seconds", "sum"), longest_seconds=("seconds", "max"), peak_mb=("peak_mb", "max")
    )
    return grouped.sort_values("seconds", ascending=False, kind="stable").reset_index()


def of_paper(jobs: pandas.DataFrame, slug: str) -> pandas.DataFrame:
    """The jobs of a paper's own results: their names start with its slug."""
    return jobs[jobs["job"].str.split(".").str[0] == slug]
