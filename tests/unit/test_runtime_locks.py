"""Stale locks are removed; others stay."""

import json
import os
import subprocess
import sys

import pytest
from reprlab.runtime.locks import record_engine, release_stale_lock


@pytest.fixture
def run(tmp_path):
    lock = tmp_path / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/x")
    return tmp_path, lock


def identity(folder, **changes):
    path = folder / ".snakemake/reprlab_engine.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_the_lock_of_a_dead_engine_is_removed(run):
    folder, lock = run
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    record_engine(folder)
    identity(folder, pid=dead.pid, start=12345)
    assert str(dead.pid) in release_stale_lock(folder)
    assert not lock.exists()
    assert release_stale_lock(folder) == ""


def test_the_lock_of_a_live_engine_stays(run):
    folder, lock = run
    record_engine(folder)
    assert release_stale_lock(folder) == ""
    assert lock.exists()


def test_a_pid_that_another_process_has_now_is_not_the_engine(run):
    folder, lock = run
    record_engine(folder)
    identity(folder, pid=os.getpid(), start=1)
    assert release_stale_lock(folder)
    assert not lock.exists()


@pytest.mark.parametrize("change", [{"host": "elsewhere", "pid": 1, "start": 1}, {"pid": "x"}])
def test_a_lock_of_another_machine_or_an_unknown_holder_stays(run, change):
    folder, lock = run
    record_engine(folder)
    identity(folder, **change)
    assert release_stale_lock(folder) == ""
    assert lock.exists()


def test_a_lock_without_identity_stays(run):
    folder, lock = run
    assert release_stale_lock(folder) == ""
    assert lock.exists()
