"""Hours of this run by training set, from the engine's own measurements, beside the sums of Table 4."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.amuro_char.layouts import HoursLayout
from reprlab.papers.amuro_char.names import PUBLISHED_HOURS
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

_SECONDS_OF_HOUR = 3600
_TOTAL = "total"


def hours_table(layout: HoursLayout) -> pandas.DataFrame:
    """One row for each training set and activity, and a total of all.

    `seconds` is wall time of the jobs together, `peak_mb` the largest resident memory of one; `published_hours` are
    those of Table 4 on one A100, of other models and data. `measured` counts the jobs whose time is known.
    """
    import pandas

    rows = [
        {"train": train, "activity": activity, **_measured(files, Path(layout.benchmarks))}
        for train, activities in layout.jobs.items()
        for activity, files in activities.items()
    ]
    frame = pandas.DataFrame(rows, columns=["train", "activity", "jobs", "measured", "seconds", "peak_mb"])
    total = {"train": _TOTAL, "activity": _TOTAL, "peak_mb": frame["peak_mb"].max()}
    total |= {name: frame[name].sum() for name in ("jobs", "measured", "seconds")}
    frame = pandas.concat([frame, pandas.DataFrame([total])], ignore_index=True)
    frame["hours"] = frame["seconds"] / _SECONDS_OF_HOUR
    frame["published_hours"] = [
        _published(train, activity) for train, activity in zip(frame["train"], frame["activity"], strict=True)
    ]
    unknown = frame["jobs"] - frame["measured"]
    about = f"times of this run at scale {layout.scale}; the published ones are GPU hours at paper scale"
    frame["note"] = [f"{about}; {count} jobs without a measurement" if count else about for count in unknown]
    return frame.assign(device=layout.device, scale=layout.scale)[
        [*frame.columns.drop("note"), "device", "scale", "note"]
    ].astype({"jobs": "Int64", "measured": "Int64"})


def _measured(files: list[str], folder: Path) -> dict[str, Any]:
    import pandas

    found = []
    for name in files:
        try:
            found.append(read_tsv(folder / name))
        except ReprlabError:
            continue  # times are no results: a run whose measurements were pruned goes without them
    joined = pandas.concat(found, ignore_index=True) if found else pandas.DataFrame(columns=["s", "max_rss"])
    seconds = pandas.to_numeric(joined["s"], errors="coerce")
    peak = pandas.to_numeric(joined.get("max_rss", seconds * math.nan), errors="coerce").max()
    return {"jobs": len(files), "measured": len(found), "seconds": float(seconds.sum()), "peak_mb": peak}


def _published(train: str, activity: str) -> float:
    hours = PUBLISHED_HOURS.get(train, {})
    return hours.get(activity, math.nan)
