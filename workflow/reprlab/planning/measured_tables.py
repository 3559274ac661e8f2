"""What `reprlab.planning.measured` has noted of finished runs, read by `make list` and by the view of a run."""

import csv
from pathlib import Path

TABLE = "resources/measured.tsv"
COLUMNS = ("target", "scale", "minutes", "cores", "disk_mb")
JOBS = "resources/job_seconds.tsv"
JOB_COLUMNS = ("rule", "scale", "seconds")


def job_seconds(root: Path, scale: str) -> dict[str, float]:
    """Mean seconds of a job of each rule at a scale."""
    return {row["rule"]: float(row["seconds"]) for row in read_rows(root / JOBS) if row["scale"] == scale}


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none where there is no table."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))
