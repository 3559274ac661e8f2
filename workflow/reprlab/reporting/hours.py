"""Hours of a run by task, from the engine's own measurements."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from reprlab.reporting.benchmarks import read_benchmarks

if TYPE_CHECKING:
    import pandas

_SECONDS_OF_HOUR = 3600
_TOTAL = "total"


class HoursSettings(BaseModel):
    """Which jobs count as what. Times are not results, so their files are not inputs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scale: str
    """Scale of the run."""
    device: str
    """Where the jobs ran, by the config."""
    jobs: dict[str, dict[str, list[str]]]
    """Task (or what is shared): activity: jobs as `<stage>/<job>`, as the engine names its measurements."""
    published: dict[str, dict[str, float]] = {}
    """Hours that the paper prints, by task and activity; `total` for all."""


def hours_table(settings: HoursSettings, benchmarks: Path) -> pandas.DataFrame:
    """One row for each task and activity, and a total of all.

    `seconds` is wall time of the jobs together, `peak_mb` the largest resident memory of one. `measured` counts the
    jobs whose time is known: a run whose measurements were pruned goes without them.
    """
    import pandas

    known = read_benchmarks(benchmarks)
    known.index = known["stage"] + "/" + known["job"]
    rows: list[dict[str, Any]] = []
    for task, activities in settings.jobs.items():
        for activity, jobs in activities.items():
            found = known[known.index.isin(jobs)]
            counts = {"jobs": len(jobs), "measured": len(found), "seconds": found["seconds"].sum()}
            rows.append({"train": task, "activity": activity, **counts, "peak_mb": found["peak_mb"].max()})
    frame = pandas.DataFrame(rows, columns=["train", "activity", "jobs", "measured", "seconds", "peak_mb"])
    total = {name: frame[name].sum() for name in ("jobs", "measured", "seconds")}
    frame.loc[len(frame)] = {"train": _TOTAL, "activity": _TOTAL, "peak_mb": frame["peak_mb"].max(), **total}
    about = f"times of this run at scale {settings.scale}; the published ones are GPU hours at paper scale"
    unknown = frame["jobs"] - frame["measured"]
    printed = [
        settings.published.get(task, {}).get(activity, math.nan)
        for task, activity in zip(frame["train"], frame["activity"], strict=True)
    ]
    notes = [f"{about}; {count} jobs without a measurement" if count else about for count in unknown]
    hours = frame["seconds"] / _SECONDS_OF_HOUR
    frame = frame.assign(hours=hours, published_hours=printed, device=settings.device, scale=settings.scale, note=notes)
    return frame.astype({"jobs": "Int64", "measured": "Int64"})
