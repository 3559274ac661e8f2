"""`profiles/generic-cluster` against stand-ins for the commands of SGE, LSF and PBS."""

import os
import re
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from tests.checkouts import Checkout, made_once, private_copy
from tests.toy import BASELINES

# The stand-in scheduler: a job is a folder with its command, pid, output and, in the end, exit status.
RUN = """\
job=$(($(ls "$JOBS" | wc -l) + 1)); mkdir "$JOBS/$job"; printf '%s\\n' "$*" > "$JOBS/$job/command"
setsid sh -c '"$@" > "$0/log" 2>&1 & echo $! > "$0/pid"; wait $!; echo $? > "$0/status"' "$JOBS/$job" "$@" \\
  > /dev/null 2>&1 &
"""
SKIP_OPTIONS = 'while [ "$1" != timeout ] && [ "${1##*/}" != timeout ]; do shift; done\n'
CANCEL = 'for job; do kill -TERM "$(cat "$JOBS/$job/pid")"; done\n'
STAND_INS = {
    "sge": {
        "qsub": SKIP_OPTIONS + RUN + "echo $job\n",
        "qstat": 'test ! -f "$JOBS/$2/status"\n',
        "qacct": 'printf "jobname     x\\nexit_status  %s\\n" "$(cat "$JOBS/$2/status")"\n',
        "qdel": CANCEL,
    },
    "lsf": {
        "bsub": SKIP_OPTIONS + RUN + 'echo "Job <$job> is submitted to default queue <normal>."\n',
        "bjobs": 'for id; do :; done\ncase "$(cat "$JOBS/$id/status" 2>/dev/null)" in\n'
        '"") echo RUN ;; 0) echo DONE ;; *) echo EXIT ;; esac\n',
        "bkill": CANCEL,
    },
    "pbs": {
        "qsub": SKIP_OPTIONS + RUN + "echo $job\n",
        "qstat": 'test -f "$JOBS/$3/status" && echo "    Exit_status = $(cat "$JOBS/$3/status")"; true\n',
        "qdel": CANCEL,
    },
}
PROFILE = ("--profile", "profiles/generic-cluster", "--max-status-checks-per-second", "100", "--latency-wait", "5")


def scheduler(folder: Path, name: str) -> dict[str, str]:
    """Write the commands of a scheduler; the environment in which they are found."""
    (folder / "bin").mkdir()
    (folder / "jobs").mkdir()
    for command, text in STAND_INS[name].items():
        path = folder / "bin" / command
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    return {"REPRLAB_SCHEDULER": name, "JOBS": str(folder / "jobs"), "PATH": path}


def commands(folder: Path) -> list[str]:
    """What was submitted, in order."""
    jobs = sorted((folder / "jobs").iterdir(), key=lambda job: int(job.name))
    return [(job / "command").read_text() for job in jobs]


@pytest.mark.parametrize("name", ["sge", *(pytest.param(name, marks=pytest.mark.release) for name in ("lsf", "pbs"))])
def test_a_job_is_submitted_watched_and_finished(finished_copy, tmp_path, name):
    variables = scheduler(tmp_path, name)
    (finished_copy.nano / BASELINES[0]).unlink()
    limit = ("--set-resources", "evaluate_baselines:runtime=10")
    finished_copy.run(*PROFILE, *limit, "--config", "scale=nano", "--", BASELINES[0], timeout=120, **variables)
    assert (finished_copy.nano / BASELINES[0]).is_file()
    (submitted,) = commands(tmp_path)
    # Of ten minutes; in the last fifth it may save.
    assert re.fullmatch(r"\S*timeout --signal=TERM 480 sh \S+evaluate_baselines\S+\n", submitted)
    assert (tmp_path / "jobs/1/status").read_text() == "0\n"


LADDER = "results/shared/pretrained/depth_t5_fs_s2137"
# Long enough to be stopped in the middle.
LONG = (
    "papers.depth.pretraining.runs.fs.steps=300, papers.depth.pretraining.runs.fs.ladder=[2, 300], runtime.save_every=5"
)


def start(checkout, *arguments, **variables):
    return subprocess.Popen(
        checkout.command(*arguments),
        cwd=checkout.root,
        env=checkout.environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(found, seconds=120):
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return value


def contents(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name != "throughput.tsv"}


@pytest.fixture
def trained(tmp_path_factory, tmp_path) -> Checkout:
    """A private copy of a checkout in which one ladder was trained, with other settings than here."""
    return private_copy(made_once(tmp_path_factory, "trained", f"{LADDER}/metrics.tsv"), tmp_path / "project")


@pytest.mark.release
def test_training_that_runs_out_of_time_saves_and_the_next_attempt_goes_on(trained, tmp_path):
    target = f"{LADDER}/metrics.tsv"
    variables = scheduler(tmp_path, "sge")
    config = ("--config", "scale=nano", f"set={LONG}", "--", target)
    engine = start(trained, *PROFILE, *config, **variables)
    wait_for(lambda: list(trained.nano.glob("results/work/pretrain_lm/*/resume-*")))
    # What `timeout` does when the time is up: SIGTERM to all of the job.
    os.kill(int((tmp_path / "jobs/1/pid").read_text()), signal.SIGTERM)
    text, _ = engine.communicate(timeout=300)
    assert engine.returncode == 0, text
    assert len(commands(tmp_path)) == 2
    assert "stopped by SIGTERM at step" in (tmp_path / "jobs/1/log").read_text()
    assert "resumed at step" in (trained.nano / "results/logs/pretrain_lm/depth_t5_fs_s2137.log").read_text()
    stopped = contents(trained.nano / LADDER)
    (trained.nano / LADDER).rename(tmp_path / "stopped")
    trained.run("--cores", "1", *config)
    assert stopped == contents(trained.nano / LADDER)


@pytest.mark.release
def test_a_cancelled_run_leaves_no_job(trained, tmp_path):
    variables = scheduler(tmp_path, "lsf")
    config = ("--config", "scale=nano", f"set={LONG}", "--", f"{LADDER}/metrics.tsv")
    engine = start(trained, *PROFILE, *config, **variables)
    wait_for(lambda: list(trained.nano.glob("results/work/pretrain_lm/*/resume-*")))
    engine.send_signal(signal.SIGINT)
    engine.communicate(timeout=120)
    assert engine.returncode
    wait_for(lambda: (tmp_path / "jobs/1/status").is_file(), seconds=60)
    assert len(commands(tmp_path)) == 1
    assert not [folder for folder in Path("/proc").glob("[0-9]*") if works_in(folder, trained.root)]


def works_in(process: Path, root: Path) -> bool:
    try:
        return (process / "cwd").resolve().is_relative_to(root)
    except OSError:
        return False
