"""Kill the stage or the engine, or start two engines, then give the same command: the same bytes, nothing left running.

On the toy paper; `test_training_kills.py` has the trainings. What need not be the same is named in `faults/engine.py`
(EXEMPT).
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.checkouts import Checkout
from tests.toy import BASELINES, RECEIPT, SLUG, TABLE, TASKS
from tests.workflow.faults.engine import Run, digests, gone, half_written, kill, stages

STAGE = "evaluate_baselines"
SCORES = BASELINES[0]
COMMAND = ("--cores", "2", "--config", "scale=nano", "--", SLUG)


@pytest.fixture
def unscored(finished_copy) -> Checkout:
    """All of the toy made but the scores of one data set, and what is made from them."""
    for name in (SCORES, "results/toy-paper/results.parquet", TABLE):
        (finished_copy.nano / name).unlink()
    return finished_copy


@contextmanager
def held(checkout: Checkout) -> Iterator[None]:
    """The stages that run are stopped meanwhile."""
    pids = stages(checkout.root)
    for pid in pids:
        kill(pid, signal.SIGSTOP)
    yield
    for pid in pids:
        kill(pid, signal.SIGCONT)


def started(checkout: Checkout, log: Path) -> Run:
    """A run whose stage has begun to work."""
    said = checkout.nano / f"results/logs/{STAGE}/{TASKS[0]}.log"
    said.unlink()
    run = Run(checkout, *COMMAND, log=log)
    assert run.wait_until(lambda: said.exists() and stages(checkout.root, STAGE)), run.output
    return run


def same_as(finished: Checkout, run: Path) -> None:
    assert digests(run) == digests(finished.nano)
    assert half_written(run) == []


def finish(checkout: Checkout, finished: Checkout) -> str:
    """The same command once more; its output."""
    done = checkout.run(*COMMAND, timeout=300)
    same_as(finished, checkout.nano)
    assert not stages(checkout.root)
    return done.stdout + done.stderr


def test_the_stage_is_killed(unscored, finished, tmp_path):
    run = started(unscored, tmp_path / "log")
    for pid in stages(unscored.root, STAGE):
        kill(pid)
    assert run.wait(60) != 0
    assert not (unscored.nano / SCORES).exists()
    finish(unscored, finished)


def test_the_engine_is_killed(unscored, finished, tmp_path):
    run = started(unscored, tmp_path / "log")
    with held(unscored):
        run.kill()
        run.wait(10)
    assert gone(unscored.root), "a stage outlived its engine"
    assert f"removed the lock of a run that died (process {run.process.pid})" in finish(unscored, finished)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_the_engine_is_asked_to_stop(unscored, finished, tmp_path, number):
    """SIGTERM lets the running job end and starts no other; SIGINT goes to the whole group, as Ctrl-C does."""
    run = started(unscored, tmp_path / "log")
    with held(unscored):
        if number == signal.SIGINT:
            os.killpg(run.process.pid, number)
        else:
            run.kill(number)
    assert run.wait(120) != 0
    assert gone(unscored.root), "a stage outlived its engine"
    assert "Traceback" not in run.output
    assert (unscored.nano / SCORES).exists() == (number == signal.SIGTERM)
    assert not (unscored.nano / TABLE).exists()
    finish(unscored, finished)


def test_two_engines_at_once(unscored, finished, tmp_path):
    """The second is told, ends, and takes nothing from the first."""
    first = started(unscored, tmp_path / "first")
    # Its stage waits, or it might be done before the second engine looks.
    with held(unscored):
        second = unscored.run(*COMMAND, check=False, timeout=120)
    assert second.returncode != 0
    output = second.stdout + second.stderr
    assert f"note: process {first.process.pid} of " in output
    assert "Directory cannot be locked" in output
    assert "Traceback" not in output
    assert first.wait(300) == 0, first.output
    same_as(finished, unscored.nano)


def test_two_engines_started_at_the_same_moment(unscored, finished, tmp_path):
    runs = [Run(unscored, *COMMAND, log=tmp_path / f"log{number}") for number in range(2)]
    ends = sorted(run.wait(300) for run in runs)
    assert ends[0] == 0, [run.output[-2000:] for run in runs]
    same_as(finished, unscored.nano)
    finished_runs = [run for run in runs if "done in" in run.output]
    assert len(finished_runs) == 1, "one engine alone may work"


def files(folder: Path) -> dict[str, int]:
    """Path to the time of the last change."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_no_run_touches_the_files_of_another(finished_copy):
    """The same scale under another name, and the default scale, whose run lies at the root."""
    before = files(finished_copy.nano)
    finished_copy.run("--cores", "1", "--config", "scale=nano", "run=other", "--", RECEIPT)
    other = finished_copy.root / "runs/other"
    assert (other / RECEIPT).exists()
    assert files(finished_copy.nano) == before
    seen = files(other)
    time.sleep(0.01)
    finished_copy.run("--cores", "1", "--", RECEIPT)
    assert (finished_copy.root / RECEIPT).exists()
    assert files(finished_copy.nano) == before
    assert files(other) == seen
