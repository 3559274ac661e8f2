"""A finished run of a job with several seeds is read back as it was kept, or trained again."""

import math

import pytest
from reprlab.training.seeds import finished_run, keep_run

ROWS = [{"step": 1, "loss": 0.5, "held_out": math.nan}, {"step": 2, "loss": 0.25, "held_out": 1.0}]


@pytest.fixture
def folder(tmp_path):
    keep_run(tmp_path / "seed-1", "one", ROWS, lambda to: (to / "weights").write_text("w"))
    return tmp_path / "seed-1"


def test_a_finished_run_comes_back(folder, caplog):
    with caplog.at_level("WARNING", logger="reprlab"):
        found = finished_run(folder, "one")
        assert finished_run(folder, "two") is None and finished_run(folder.parent / "seed-2", "one") is None
    assert list(found[0]) == list(ROWS[0]) and found[1] == ROWS[1] and math.isnan(found[0]["held_out"])
    assert caplog.text == "", "another identity is no damage"


@pytest.mark.parametrize("damage", ["rows", "model", "no model", "more in the model", "cut off"])
def test_what_is_not_as_it_was_kept_is_trained_again(folder, damage):
    cell, weights = folder / "cell.json", folder / "model/weights"
    if damage == "rows":
        cell.write_text(cell.read_text().replace("0.25", "0.125"))
    elif damage == "cut off":
        cell.write_text(cell.read_text()[:40])
    elif damage == "model":
        weights.write_text("v")
    elif damage == "no model":
        weights.unlink()
    else:
        (folder / "model/more").touch()
    assert finished_run(folder, "one") is None
