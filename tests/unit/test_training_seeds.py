"""A finished run of a job with several seeds is read back as it was kept, or trained again."""

import math
import os

import pytest
from pydantic import BaseModel
from reprlab.artifacts.tables import read_tsv
from reprlab.training.engine import TrainingRun
from reprlab.training.fingerprints import run_fingerprint
from reprlab.training.ladder import link_or_copy
from reprlab.training.seeds import finished_run, keep_run, seeded, train_each_seed
from training_samples import tiny_settings

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


class OneSeed(BaseModel):
    seed: int
    rate: float = 0.1


def test_every_seed_has_its_model_and_rows_and_is_trained_once(tmp_path):
    """The second seed dies; the first is not trained again, and nothing is written before all are there."""
    trained, dying = [], {1}
    data = tmp_path / "data"
    data.write_text("d")

    def run(seeds, rate=0.1):
        def train_one(settings, folder, identity):
            trained.append(settings.seed)
            if settings.seed in dying:
                raise KeyboardInterrupt
            rows = [{"step": step, "loss": settings.seed + step} for step in (1, 2)]
            return TrainingRun(2, 9, None, True, rows, []), lambda to: (to / "w").write_text(f"{settings.seed} {rate}")

        train_each_seed(
            seeds, lambda seed: OneSeed(seed=seed, rate=rate), lambda seed: [data], train_one, out=tmp_path / "out",
            metrics=tmp_path / "m.tsv", work=tmp_path / "work", fingerprint="f",
        )  # fmt: skip

    with pytest.raises(KeyboardInterrupt):
        run([3, 1])
    assert trained == [3, 1] and not (tmp_path / "out").exists() and not (tmp_path / "m.tsv").exists()
    dying.clear()
    run([3, 1])
    assert trained == [3, 1, 1], "the first seed was finished"
    table = read_tsv(tmp_path / "m.tsv")
    assert table[["seed", "step", "loss"]].to_numpy().tolist() == [[3, 1, 4], [3, 2, 5], [1, 1, 2], [1, 2, 3]]
    assert {path.name: (path / "w").read_text() for path in (tmp_path / "out").iterdir()} == {
        "seed-3": "3 0.1", "seed-1": "1 0.1",
    }  # fmt: skip
    assert not (tmp_path / "work").exists()
    data.write_text("e")
    run([3], rate=0.2)
    assert trained[3:] == [3] and (tmp_path / "out/seed-3/w").read_text() == "3 0.2"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["seed-3"]


def test_a_process_that_does_not_write_leaves_nothing(tmp_path):
    train_each_seed(
        [0], lambda seed: OneSeed(seed=seed), lambda seed: [],
        lambda settings, folder, identity: (TrainingRun(1, 1, None, False, [], []), lambda to: None),
        out=tmp_path / "out", metrics=tmp_path / "m.tsv", work=tmp_path / "work", fingerprint="f",
    )  # fmt: skip
    assert not (tmp_path / "out").exists() and not (tmp_path / "m.tsv").exists()


def test_a_file_system_without_second_names_gets_a_copy(tmp_path, monkeypatch):
    def refuses(*_):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuses)
    (tmp_path / "source").write_text("kept")
    assert link_or_copy(str(tmp_path / "source"), str(tmp_path / "target")) == str(tmp_path / "target")
    assert (tmp_path / "target").read_text() == "kept" == (tmp_path / "source").read_text()


def test_an_identity_is_of_the_code_the_settings_and_the_names_and_bytes_of_the_inputs(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("1")
    second.write_text("2")

    def made(code="x", seed=0, inputs=(first, second)):
        return run_fingerprint(code, OneSeed(seed=seed), list(inputs))

    known = [made(), made(code="y"), made(seed=1), made(inputs=[first]), made(inputs=[])]
    second.write_text("3")
    known.append(made())
    second.write_text("2")
    second.rename(tmp_path / "c")
    known.append(made(inputs=[first, tmp_path / "c"]))
    assert len(set(known)) == len(known)
    (tmp_path / "c").rename(second)
    assert made() == known[0]


def test_the_loop_of_a_seed_differs_by_it_alone():
    engine = tiny_settings(seed=4)
    assert seeded(engine, 7).seed == 7 and seeded(engine, 7).model_copy(update={"seed": 4}) == engine
