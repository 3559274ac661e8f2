"""`profiles/slurm` on a real Slurm: a table, an edited checkout, a killed training, a cancelled run."""

import json
import shutil
import signal
import time
from pathlib import Path

import pytest
from reprlab.runtime.seals import content_digest

from tests.checkouts import private_copy
from tests.cluster.conftest import BASELINES, TABLE
from tests.cluster.slurm_runs import CANCELLED, LADDER, LONG, TRAINING, Run, contents
from tests.machine_speed import unit_seconds

pytestmark = pytest.mark.cluster

# More training than fits into any attempt before the last; never saved unless it is told to leave.
BEYOND = (
    "papers.depth.pretraining.runs.fs.steps={steps}, papers.depth.pretraining.runs.fs.ladder=[2, {steps}],"
    " runtime.save_every=1000000"
)
# Steps of that training in a unit of processor time (tests/machine_speed.py).
STEPS_IN_A_UNIT = 14
# Read by every remote job, and by the stages that run last.
EDITED = (
    "Snakefile",
    "workflow/rules/jobs.smk",
    "workflow/reprlab/stages/finetune_model.py",
    "config/papers/depth.yaml",
)


def processes_in(root: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve().is_relative_to(root):
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


# The whole graph, a hundred jobs, by `make test-slow`.
@pytest.mark.parametrize("target", [TABLE, pytest.param("all", marks=pytest.mark.slow)])
def test_the_graph_and_an_edited_checkout(slurm, checkout, finished, target):
    run = Run(checkout, slurm, "--config", "scale=nano", "--", target)
    run.wait_for(slurm.jobs)
    originals = {name: checkout.root / name for name in EDITED}
    for name, path in originals.items():
        shutil.copy2(path, checkout.root.parent / name.replace("/", "."))
        path.write_text("this was edited while jobs wait: (\n")
    at_once = 0
    while run.process.poll() is None:
        at_once = max(at_once, len(slurm.jobs("RUNNING")))
        time.sleep(1)
    run.finish()
    assert at_once > 1
    if target == "all":
        finished.run("--cores", "2", "--config", "scale=nano", "--", target, timeout=1500)
    evaluated = ["shared/evaluated"] if target == "all" else []
    for folder in ("depth", "shared/pretrained", "shared/finetuned", *evaluated):
        made = contents(checkout.nano / "results" / folder)
        assert made and made == contents(finished.nano / "results" / folder)
    # The edits undone, a local run finds everything as it should be.
    for name, path in originals.items():
        shutil.move(checkout.root.parent / name.replace("/", "."), path)
    assert checkout.planned(target) == {}


def test_a_killed_training_resumes_and_ends_with_the_same_bytes(slurm, finished, finished_copy, tmp_path):
    checkout = finished_copy
    config = ("--config", "scale=nano", f"set={CANCELLED}", "--", f"{LADDER}/metrics.tsv")
    undisturbed = Run(private_copy(finished, tmp_path / "undisturbed"), None, *config)
    run = Run(checkout, slurm, *config)
    run.wait_for(lambda: list(checkout.nano.glob("results/work/pretrain_lm/*/resume-*")))
    (training,) = [job for job in slurm.jobs() if job.comment.strip() == TRAINING]
    slurm.cancel(training.id)
    run.finish()
    log = (checkout.nano / "results/logs/pretrain_lm/depth_t5_fs_s2137.log").read_text()
    assert "resumed at step" in log
    assert "tried again: " in run.out.read_text()
    undisturbed.finish()
    assert contents(checkout.nano / LADDER) == contents(undisturbed.checkout.nano / LADDER)


def test_training_beyond_its_wall_time_saves_and_the_next_attempt_goes_on(slurm, finished, finished_copy, tmp_path):
    checkout = finished_copy
    steps = round(180 / unit_seconds() * STEPS_IN_A_UNIT)
    config = ("--config", "scale=nano", f"set={BEYOND.format(steps=steps)}", "--", f"{LADDER}/metrics.tsv")
    undisturbed = Run(private_copy(finished, tmp_path / "undisturbed"), None, *config)
    # Slurm's shortest limit is a minute, and on a busy processor that may be over before training begins. The next
    # attempt has one more, which is too short for three minutes of training even if the processor is idle then.
    resources = ("runtime=attempt", "slurm_extra='--signal=TERM@5'", "gpu=1", "mem_mb=4000")
    limit = ("--retries", "8", "--set-resources", *(f"pretrain_lm:{resource}" for resource in resources))
    run = Run(checkout, slurm, *limit, *config)
    run.finish(seconds=1800)
    output = run.out.read_text()
    assert "tried again: " in output, "it ended within a minute"
    assert "stopped by SIGTERM at step" in output
    log = (checkout.nano / "results/logs/pretrain_lm/depth_t5_fs_s2137.log").read_text()
    assert "resumed at step" in log
    undisturbed.finish()
    assert contents(checkout.nano / LADDER) == contents(undisturbed.checkout.nano / LADDER)


def test_a_failed_task_of_an_array_takes_nothing_from_the_others(slurm, finished_copy):
    results = finished_copy.nano / "results"
    made = {path: (finished_copy.nano / path).read_bytes() for path in BASELINES}
    # Garbage with a seal of its own, so that the engine takes it for the input as it was made.
    damaged = results / "shared/tasks/vitaminc/examples.parquet"
    seal = results / ".seals/shared/tasks/vitaminc/examples.parquet.json"
    damaged.write_text("garbage")
    seal.write_text(json.dumps({**json.loads(seal.read_text()), "sha256": content_digest(damaged)}))
    again = ("--retries", "0", "--forcerun", "evaluate_baselines")
    run = Run(finished_copy, slurm, *again, "--config", "scale=nano", "--", *BASELINES)
    assert run.process.wait(timeout=600) != 0
    assert "Submitted array job" in run.out.read_text()
    failed = "results/shared/tasks/vitaminc/baselines.tsv"
    assert not (finished_copy.nano / failed).exists()
    made.pop(failed)
    assert {path: (finished_copy.nano / path).read_bytes() for path in made} == made


def test_a_cancelled_run_leaves_no_job(slurm, finished_copy):
    again = ("--forcerun", "pretrain_lm", "build_examples")
    run = Run(finished_copy, slurm, *again, "--config", "scale=nano", f"set={LONG}", "--", TABLE)
    run.wait_for(lambda: len(slurm.jobs("RUNNING")) > 1)
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(timeout=120) != 0
    deadline = time.monotonic() + 60
    while slurm.jobs() or processes_in(finished_copy.root):
        assert time.monotonic() < deadline, (slurm.jobs(), processes_in(finished_copy.root))
        time.sleep(0.5)
