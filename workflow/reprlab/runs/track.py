"""Training curves of a run for the tools that people watch curves with: a view of the logs, of which nothing is made.

    python -m reprlab.runs.track --run runs/small --as tensorboard    # then: tensorboard --logdir runs/small/track

`runtime.track` writes it whenever a run ends. The folder `track` of the run has an event file for each training, or
`curves.csv` with a row for each step of each training, as W&B imports it (`wandb.Table(dataframe=...)`).
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import sys
from collections.abc import Iterator
from pathlib import Path

from reprlab.runtime.errors import ReprlabError, told_in_one_line

KINDS = ("tensorboard", "csv")
FOLDER = "track"
_EVENTS, _TABLE = "events.out.tfevents.0.reprlab", "curves.csv"


def write_track(run: Path, kind: str) -> list[Path]:
    """Write the view of a run's training logs in place of an earlier one; returns its files.

    Args:
        run: folder of the run, which holds `results`.
        kind: one of `KINDS`; with `none` nothing is written, and what is there stays.
    """
    if kind == "none":
        return []
    folder = run / FOLDER
    for earlier in (*folder.rglob(_EVENTS), folder / _TABLE):
        earlier.unlink(missing_ok=True)
    logs = dict(_logs(run / "results" / "shared"))
    if not logs:
        return []
    return (
        [_write_table(folder / _TABLE, logs)]
        if kind == "csv"
        else [_write_events(folder / name / _EVENTS, rows) for name, rows in logs.items()]
    )


Row = dict[str, str]


def _logs(shared: Path) -> Iterator[tuple[str, list[Row]]]:
    """The training logs, tables whose first column is the step; one that is no metrics.tsv keeps its name."""
    for path in sorted(shared.rglob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as lines:
            if lines.readline().split("\t", 1)[0] != "step":
                continue
            lines.seek(0)
            rows = [_numbers(row) for row in csv.DictReader(lines, delimiter="\t")]
        name = path.parent if path.stem == "metrics" else path.with_suffix("")
        yield name.relative_to(shared).as_posix(), rows


def _numbers(row: Row) -> Row:
    return {name: value for name, value in row.items() if name and value and _is_number(value)}


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _write_events(path: Path, rows: list[Row]) -> Path:
    """An event for each step; its time is the step, so that equal logs give equal bytes."""
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.proto.summary_pb2 import Summary
    from tensorboardX.record_writer import RecordWriter

    path.parent.mkdir(parents=True, exist_ok=True)
    writer = RecordWriter(str(path))
    writer.write(Event(wall_time=0, file_version="brain.Event:2").SerializeToString())
    for row in rows:
        step = float(row["step"])
        values = [Summary.Value(tag=name, simple_value=float(value)) for name, value in row.items() if name != "step"]
        event = Event(wall_time=step, step=int(step), summary=Summary(value=values))
        writer.write(event.SerializeToString(deterministic=True))
    writer.close()
    return path


def _write_table(path: Path, logs: dict[str, list[Row]]) -> Path:
    from reprlab.runtime.files import write_text

    names = dict.fromkeys(name for rows in logs.values() for row in rows for name in row)
    text = io.StringIO()
    writer = csv.DictWriter(text, ["run", *names], lineterminator="\n")
    writer.writeheader()
    writer.writerows({"run": name, **row} for name, rows in logs.items() for row in rows)
    write_text(path, text.getvalue())
    return path


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Write the view of a run that was made; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m reprlab.runs.track",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--run", type=Path, default=Path(), help="folder that holds the run's results/ (default: here)")
    parser.add_argument("--as", dest="kind", choices=KINDS, default=KINDS[0], help="what is written")
    options = parser.parse_args(arguments)
    if not (options.run / "results").is_dir():
        raise ReprlabError(f"{options.run / 'results'}: no such folder; --run names the folder of a run")
    written = write_track(options.run, options.kind)
    folder = options.run / FOLDER
    said = f"{folder / _TABLE}" if options.kind == "csv" else f"{folder}: {len(written)} trainings"
    sys.stdout.write(f"{said}\n" if written else f"{options.run}: no training log yet\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
