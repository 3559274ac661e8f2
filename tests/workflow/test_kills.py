"""Kill the stage or the engine, then give the same command: the same bytes, and nothing left running.

What need not be the same is named in `faults/engine.py` (EXEMPT).
"""

import os
import random
import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.checkouts import Checkout
from tests.workflow.faults.engine import Run, digests, error_lines, gone, half_written, kill, stages
from tests.workflow.faults.tally import fault_seed

MODEL = "depth_t5_fs_s2137"
LADDER = f"results/shared/pretrained/{MODEL}"
TABLE = "results/depth/loss_fs.tsv"
# A resume point after every step, so that the moment of the kill can be chosen; it changes no result.
COMMAND = ("--cores", "2", "--config", "scale=nano", "set=runtime.save_every=1", "--", f"{LADDER}/metrics.tsv", TABLE)
STEPS = 8


@pytest.fixture
def untrained(finished_copy) -> Checkout:
    """Everything made but one ladder and what is measured on it."""
    shutil.rmtree(finished_copy.nano / LADDER)
    for name in ("results/shared/evaluated/depth_t5_fs.tsv", TABLE, TABLE.replace(".tsv", ".provenance.json")):
        (finished_copy.nano / name).unlink()
    return finished_copy


def same_as(finished: Checkout, run: Path) -> None:
    expected, found = digests(finished.nano), digests(run)
    assert {name for name in found if found[name] != expected.get(name)} == set()
    assert LADDER + "/metrics.tsv" in found
    assert TABLE in found
    assert half_written(run) == []


def started_until_step(checkout: Checkout, step: int, log: Path) -> Run:
    """A run whose pre-training has saved `step`."""
    run = Run(checkout, *COMMAND, log=log)
    point = checkout.nano / f"results/work/pretrain_lm/{MODEL}/resume-{step:08d}"
    assert run.wait_until(point.exists), run.output
    return run


def finish(checkout: Checkout, finished: Checkout, *, resumes: bool = True) -> str:
    """The same command once more; its output."""
    done = checkout.run(*COMMAND, timeout=300)
    same_as(finished, checkout.nano)
    log = (checkout.nano / f"results/logs/pretrain_lm/{MODEL}.log").read_text()
    assert ("resumed at step" in log) == resumes, "it must go on, not start again"
    assert not stages(checkout.root)
    return done.stdout + done.stderr


def test_the_training_process_is_killed(untrained, finished, tmp_path):
    step = random.Random(fault_seed()).randrange(1, STEPS)
    run = started_until_step(untrained, step, tmp_path / "log")
    for pid in stages(untrained.root, "pretrain_lm"):
        kill(pid)
    assert run.wait(60) != 0
    assert not (untrained.nano / LADDER).exists() or not any((untrained.nano / LADDER).rglob("*.safetensors"))
    finish(untrained, finished)


def test_the_engine_is_killed(untrained, finished, tmp_path):
    step = random.Random(fault_seed()).randrange(1, STEPS)
    run = started_until_step(untrained, step, tmp_path / "log")
    run.kill()
    run.wait(10)
    assert gone(untrained.root), "a stage outlived its engine"
    output = finish(untrained, finished)
    assert f"removed the lock of a run that died (process {run.process.pid})" in output


def test_the_training_process_is_asked_to_stop(untrained, finished, tmp_path):
    run = started_until_step(untrained, 2, tmp_path / "log")
    for pid in stages(untrained.root, "pretrain_lm"):
        kill(pid, signal.SIGTERM)
    assert run.wait(60) != 0
    (line,) = error_lines(run.output)
    assert "stopped by SIGTERM at step" in line
    assert "the same command goes on from there" in line
    finish(untrained, finished)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_the_engine_is_asked_to_stop(untrained, finished, tmp_path, number):
    """SIGTERM lets the running job end and starts no other; SIGINT goes to the whole group, as Ctrl-C does."""
    run = started_until_step(untrained, 2, tmp_path / "log")
    if number == signal.SIGINT:
        os.killpg(run.process.pid, number)
    else:
        run.kill(number)
    assert run.wait(120) != 0
    assert gone(untrained.root), "a stage outlived its engine"
    assert "Traceback" not in run.output
    if number == signal.SIGTERM:
        assert (untrained.nano / LADDER / "metrics.tsv").exists()
        assert not (untrained.nano / TABLE).exists()
    finish(untrained, finished, resumes=number == signal.SIGINT)


def test_two_engines_at_once(untrained, finished, tmp_path):
    """The second is told, ends, and takes nothing from the first."""
    first = started_until_step(untrained, 1, tmp_path / "first")
    # Its training waits, or it might be done before the second one looks.
    held = stages(untrained.root)
    for pid in held:
        kill(pid, signal.SIGSTOP)
    second = untrained.run(*COMMAND, check=False, timeout=120)
    for pid in held:
        kill(pid, signal.SIGCONT)
    assert second.returncode != 0
    output = second.stdout + second.stderr
    assert f"note: process {first.process.pid} of " in output
    assert "Directory cannot be locked" in output
    assert "Traceback" not in output
    assert first.wait(300) == 0, first.output
    same_as(finished, untrained.nano)


def test_two_engines_started_at_the_same_moment(untrained, finished, tmp_path):
    runs = [Run(untrained, *COMMAND, log=tmp_path / f"log{number}") for number in range(2)]
    ends = sorted(run.wait(300) for run in runs)
    assert ends[0] == 0, [run.output[-2000:] for run in runs]
    same_as(finished, untrained.nano)
    trained = [line for run in runs for line in run.output.splitlines() if re.search(r"jobs?\b[^;]*: Pre-train", line)]
    assert len(trained) == 1, "one engine alone may train"


def files(folder: Path) -> dict[str, int]:
    """Path to the time of the last change."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_no_run_touches_the_files_of_another(finished_copy):
    """The same scale under another name, and the default scale, whose run lies at the root."""
    target = "results/shared/archives/vader.json"
    before = files(finished_copy.nano)
    finished_copy.run("--cores", "1", "--config", "scale=nano", "run=other", "--", target)
    other = finished_copy.root / "runs/other"
    assert (other / target).exists()
    assert files(finished_copy.nano) == before
    seen = files(other)
    time.sleep(0.01)
    finished_copy.run("--cores", "1", "--", target)
    assert (finished_copy.root / target).exists()
    assert files(finished_copy.nano) == before
    assert files(other) == seen
