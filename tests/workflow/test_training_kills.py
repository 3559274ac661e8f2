"""A training of DEPTH whose process or engine is killed, or asked to stop: the same command goes on from its last save.

That it ends in the same bytes after kills at any moment is tried by `test_stage_kills.py`, for every stage that trains.
"""

import random
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from reprlab.planning.reruns import needed_jobs

from tests.checkouts import Checkout, copy_project
from tests.nano import all_edits
from tests.plans import plan_of
from tests.workflow.faults.engine import Run, digests, error_lines, gone, half_written, kill, stages
from tests.workflow.faults.tally import fault_seed

pytestmark = pytest.mark.reads("depth")
MODEL = "depth_t5_fs_s2137"
LADDER = f"results/shared/pretrained/{MODEL}"
TABLE = "results/depth/loss_fs.tsv"
STEPS = 8
# A resume point after every step, so that the moment of the kill can be chosen; it changes no result.
COMMAND = (
    "--cores", "2", "--config", "scale=nano", f"set={all_edits()}; runtime.save_every=1", "--",
    f"{LADDER}/metrics.tsv", TABLE,
)  # fmt: skip


@pytest.fixture
def untrained(made, tmp_path) -> Checkout:
    """What leads to the table, copied from the shared run, without one ladder and what is measured on it."""
    copy = copy_project(tmp_path / "project")
    places = ["results/.seals", ".snakemake"]
    for job in needed_jobs(plan_of("depth"), [TABLE]):
        places += job.outputs.values()
    for place in places:
        (copy.nano / place).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", str(made.nano / place), str((copy.nano / place).parent)], check=True)
    shutil.rmtree(copy.nano / LADDER)
    for name in ("results/shared/evaluated/depth_t5_fs.tsv", TABLE):
        (copy.nano / name).unlink()
    return copy


def killed_training(run: Run, root: Path) -> None:
    for pid in stages(root, "pretrain_lm"):
        kill(pid)
    assert run.wait(60) != 0
    assert not any((root / "runs/nano" / LADDER).rglob("*.safetensors"))


def stopped_training(run: Run, root: Path) -> None:
    for pid in stages(root, "pretrain_lm"):
        kill(pid, signal.SIGTERM)
    assert run.wait(60) != 0
    (line,) = error_lines(run.output)
    assert "stopped by SIGTERM at step" in line
    assert "the same command goes on from there" in line


def killed_engine(run: Run, root: Path) -> None:
    run.kill()
    run.wait(10)
    assert gone(root), "a stage outlived its engine"


WAYS: list[Callable[[Run, Path], None]] = [killed_training, stopped_training, killed_engine]


@pytest.mark.parametrize("end", [pytest.param(way, marks=[pytest.mark.release] * (way is not WAYS[0])) for way in WAYS])
def test_the_same_command_goes_on_from_the_last_save(untrained, made, tmp_path, end):
    step = random.Random(fault_seed()).randrange(1, STEPS)
    run = Run(untrained, *COMMAND, log=tmp_path / "log")
    point = untrained.nano / f"results/work/pretrain_lm/{MODEL}/resume-{step:08d}"
    assert run.wait_until(point.exists), run.output
    end(run, untrained.root)
    untrained.run(*COMMAND, timeout=300)
    expected, found = digests(made.nano), digests(untrained.nano)
    assert {name for name in found if found[name] != expected.get(name)} == set()
    assert {LADDER + "/metrics.tsv", TABLE} <= set(found)
    assert half_written(untrained.nano) == []
    log = (untrained.nano / f"results/logs/pretrain_lm/{MODEL}.log").read_text()
    assert "resumed at step" in log, "it must go on, not start again"
