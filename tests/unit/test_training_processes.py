"""The loop in other processes: killed, terminated, and several at once."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from reprlab.runtime.errors import ReprlabError
from reprlab.training.processes import choose_device
from safetensors.numpy import load_file

SCRIPT = Path(__file__).with_name("training_samples.py")


def start(folder, *options, launcher=()):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *launcher, str(SCRIPT), str(folder), *options]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)


def finish(process):
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def outputs(folder):
    return {path.name: path.read_bytes() for path in (*folder.glob("out/*"), folder / "metrics.json")}


def wait_for(path):
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_killed_twice_ends_with_the_bytes_of_an_undisturbed_run(tmp_path):
    undisturbed = start(tmp_path / "whole")
    for place in (3, 6):
        killed = start(tmp_path / "cut", "--pause", "0.03")
        wait_for(tmp_path / "cut" / "work" / f"resume-{place:08d}" / "state.json")
        time.sleep(random.random() * 0.05)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert not (tmp_path / "cut" / "metrics.json").exists()
    finish(start(tmp_path / "cut"))
    finish(undisturbed)
    assert outputs(tmp_path / "cut") == outputs(tmp_path / "whole")


def test_sigterm_saves_and_says_how_to_go_on(tmp_path):
    process = start(tmp_path, "--pause", "0.1", "--changes", '{"log_every": 1}')
    wait_for(tmp_path / "work" / "resume-00000003")
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "stopped by SIGTERM at step" in errors and "the same command goes on" in errors
    stopped = int(errors.split("at step ")[1].split()[0])
    assert (tmp_path / "work" / f"resume-{stopped:08d}").is_dir()
    finish(start(tmp_path, "--changes", '{"log_every": 1}'))
    assert [row["step"] for row in json.loads((tmp_path / "metrics.json").read_text())] == list(range(1, 13))


@pytest.mark.parametrize(
    ("count", "alone"),
    [
        (2, '{"batch_size": 12, "accumulation": 2}'),
        pytest.param(3, '{"batch_size": 12}', marks=pytest.mark.release),
    ],
)
def test_several_processes_equal_one(tmp_path, count, alone):
    """At the same global batch; labels are unevenly spread, so plain averaging over processes would differ.

    In float64 the two differ by the order of summation: about 1e-16 relative a step, over 12 steps far below 1e-12.
    """
    options = ("--dropout", "0")
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count))
    one = start(tmp_path / "one", *options, "--changes", alone)
    several = start(tmp_path / "several", *options, "--changes", '{"batch_size": 12}', launcher=launcher)
    finish(one)
    finish(several)
    for name in ("5.safetensors", "12.safetensors"):
        alone, together = (load_file(tmp_path / run / "out" / name) for run in ("one", "several"))
        for key, value in alone.items():
            np.testing.assert_allclose(together[key], value, rtol=0, atol=1e-12)
    metrics = [json.loads((tmp_path / run / "metrics.json").read_text()) for run in ("one", "several")]
    for left, right in zip(*metrics, strict=True):
        assert left == pytest.approx(right, rel=1e-12)


def test_a_failed_write_is_one_line_and_leaves_nothing_half_written(tmp_path):
    """A file size limit stands for a full disk: the write of the tensors fails inside safetensors."""
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); import runpy, sys; "
    limited += "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    process = start(tmp_path, "--changes", '{"ladder": []}', launcher=("-c", limited))
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.strip().splitlines()[-1] == f"{tmp_path / 'work' / 'resume-00000003'}: File too large"
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize("device", ["gpu", "cuda:7x"])
def test_an_unknown_device_is_refused(device):
    with pytest.raises(ReprlabError, match=r"runtime\.device"):
        choose_device(device)
