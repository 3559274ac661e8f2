"""Curves of a run as TensorBoard reads them and as one CSV: the numbers of the logs, the same bytes each time."""

import csv
import struct

import pytest
from reprlab.runs.track import main, write_track

LOG = "step\tloss\tdiverged\tnote\n1\t2.5\t0\ta\n4\t1.25\t0\tb\n8\t\t1\tc\n"


@pytest.fixture
def run(tmp_path):
    """A run with one training log, and a table that is none."""
    shared = tmp_path / "results" / "shared"
    for name, text in {"pretrained/t5/metrics.tsv": LOG, "scored/x/scores.tsv": "name\tstep\tvalue\na\t1\t2\n"}.items():
        (shared / name).parent.mkdir(parents=True)
        (shared / name).write_text(text)
    return tmp_path


def events(path):
    """(step, tag, value) of each record of an event file."""
    from tensorboardX.proto.event_pb2 import Event

    data, found = path.read_bytes(), []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        event = Event.FromString(data[12 : 12 + length])
        found += [(event.step, value.tag, value.simple_value) for value in event.summary.value]
        data = data[16 + length :]
    return found


def test_tensorboard_gets_every_number_of_a_training_log(run):
    (path,) = write_track(run, "tensorboard")
    assert path.parent == run / "track/pretrained/t5" and "tfevents" in path.name
    assert events(path) == [
        (1, "loss", 2.5),
        (1, "diverged", 0),
        (4, "loss", 1.25),
        (4, "diverged", 0),
        (8, "diverged", 1),
    ]
    first = path.read_bytes()
    assert write_track(run, "tensorboard") == [path] and path.read_bytes() == first


def test_one_csv_has_a_row_for_each_step_of_each_training(run):
    (path,) = write_track(run, "csv")
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert rows[0] == {"run": "pretrained/t5", "step": "1", "loss": "2.5", "diverged": "0"}
    assert [row["loss"] for row in rows] == ["2.5", "1.25", ""]


def test_a_training_that_is_gone_leaves_the_view(run):
    (path,) = write_track(run, "tensorboard")
    (run / "results/shared/pretrained/t5/metrics.tsv").unlink()
    assert write_track(run, "tensorboard") == [] and not path.exists()


def test_the_command_names_what_it_wrote_and_a_folder_that_is_no_run(run, capsys):
    assert main(["--run", str(run), "--as", "csv"]) == 0
    assert "track/curves.csv" in capsys.readouterr().out
    assert main(["--run", str(run / "nowhere"), "--as", "csv"]) == 1
    assert capsys.readouterr().err.startswith("error: ")
