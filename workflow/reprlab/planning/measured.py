"""Minutes and disk of each result with all that it is made from, by the benchmarks of a finished run.

`python -m reprlab.planning.measured --scale nano --write` notes those of a scale's run in
`resources/measured.tsv`, which `make list` shows, and the mean seconds of each rule's jobs in
`resources/job_seconds.tsv`, from which a first run says how long it will take.
"""

import argparse
import csv
import io
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from reprlab.config.load import load_config
from reprlab.planning import paths
from reprlab.planning.measured_tables import COLUMNS, JOB_COLUMNS, JOBS, TABLE, read_rows
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime.errors import told_in_one_line
from reprlab.runtime.files import write_text
from reprlab.runtime.folders import checkout_root
from reprlab.runtime.log import used
from reprlab.runtime.plan_file import PlannedJob

_SHORT = 60.0


def measure(run: Path, plan: RunPlan, scale: str) -> list[dict[str, str]]:
    """A row for each result, and for each paper, whose jobs all have a benchmark in `run`; downloads are not counted.

    Minutes are those of the jobs one after the other (one core), disk is what they left.
    """
    makers = {path: job for job in plan.jobs.values() for path in job.outputs.values()}
    rows = []
    for paper, targets in plan.targets.items():
        for name, wanted in [(paper, targets), *((target, [target]) for target in targets)]:
            jobs = [job for job in _behind(wanted, makers) if job.stage != "fetch_archive"]
            seconds = [_seconds(run, job) for job in jobs]
            if any(value is None for value in seconds):
                continue
            size = sum(_size(run / path) for job in jobs for path in job.outputs.values())
            minutes = sum(value for value in seconds if value is not None) / 60
            rows.append(dict(zip(COLUMNS, (name, scale, f"{minutes:.1f}", "1", f"{size / 1e6:.0f}"), strict=True)))
    return rows


def measure_jobs(run: Path, plan: RunPlan, scale: str) -> list[dict[str, str]]:
    """A row for each rule with a job that has a benchmark in `run`."""
    found = defaultdict[str, list[float]](list)
    for job in plan.jobs.values():
        if (seconds := _seconds(run, job)) is not None:
            found[job.stage].append(seconds)
    return [
        dict(zip(JOB_COLUMNS, (rule, scale, f"{sum(seconds) / len(seconds):.2g}"), strict=True))
        for rule, seconds in found.items()
    ]


def _behind(targets: Iterable[str], makers: dict[str, PlannedJob]) -> list[PlannedJob]:
    """The jobs that make these files and all that they are made from, each once."""
    found: dict[tuple[str, str], PlannedJob] = {}
    waiting = list(targets)
    while waiting:
        job = makers.get(waiting.pop())
        if job and (job.stage, job.key) not in found:
            found[job.stage, job.key] = job
            for paths_of in job.inputs.values():
                waiting += [paths_of] if isinstance(paths_of, str) else list(paths_of)
    return list(found.values())


def _seconds(run: Path, job: PlannedJob) -> float | None:
    """Of a job of a minute or more its CPU time, so that other work of the machine does not count; the engine samples
    that every few seconds, so of a shorter one the time that went by.

    The engine sees nothing of a job that was forked from another process (`runtime.preloaded`); its log says it.
    """
    try:
        with (run / paths.benchmark(job.stage, job.key)).open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle, delimiter="\t"))
        gone = sum(float(row["s"]) for row in rows)
        if gone < _SHORT:
            return gone
        _, cpu = used(run / paths.log(job.stage, job.key))
        if math.isnan(cpu):
            cpu = sum(float(row["cpu_time"]) for row in rows if row["cpu_time"] not in ("NA", "-"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # Less than a share of it that no job of ours takes: the engine watched a process that only waits.
    return cpu if cpu > gone / 20 else gone


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.exists() else 0


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print the rows of a scale's run, or put them in the place of the ones that the table has of these results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default=None, help="nano, mini, small or paper; the default is that of config.yaml")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE} and {JOBS}")
    given = parser.parse_args(arguments)
    root = checkout_root()
    config = load_config(root, {"scale": given.scale} if given.scale else {})
    plan = RunPlan(make_plan(config), root)
    rows = measure(config.run_folder, plan, config.scale)
    if not given.write:
        sys.stdout.write(_text(rows, COLUMNS))
        return 0
    for name, columns, new in (
        (TABLE, COLUMNS, rows),
        (JOBS, JOB_COLUMNS, measure_jobs(config.run_folder, plan, config.scale)),
    ):
        kept = {(row["scale"], row[columns[0]]): row for row in [*read_rows(root / name), *new]}
        write_text(root / name, _text([kept[key] for key in sorted(kept)], columns))
    return 0


def _text(rows: list[dict[str, str]], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    sys.exit(main())
