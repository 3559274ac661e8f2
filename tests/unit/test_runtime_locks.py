"""Stale locks are removed; others stay; engines start one after the other."""

import json
import os
import subprocess
import sys
import time

import pytest
from reprlab.runtime import locks
from reprlab.runtime.locks import enter_run, record_engine


@pytest.fixture
def run(tmp_path):
    lock = tmp_path / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True)
    yield tmp_path, lock
    locks._gate.leave()


def recorded(folder, lock, **changes):
    """Another engine that has the lock."""
    enter_run(folder)
    lock.write_text("results/x")
    record_engine(folder)
    (own,) = (folder / ".snakemake/reprlab_engines").glob("*.json")
    own.rename(own.with_name("other.json"))
    change(folder, **changes)


def change(folder, **changes):
    path = folder / ".snakemake/reprlab_engines/other.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def dead_pid() -> int:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    return dead.pid


def test_the_lock_of_a_dead_engine_is_removed(run):
    folder, lock = run
    pid = dead_pid()
    recorded(folder, lock, pid=pid, start=12345)
    (note,) = enter_run(folder)
    assert str(pid) in note
    assert not lock.exists()
    locks._gate.leave()
    assert enter_run(folder) == []


def test_the_lock_of_a_live_engine_stays_and_is_named(run):
    folder, lock = run
    recorded(folder, lock)
    (note,) = enter_run(folder)
    assert f"process {os.getpid()} of " in note
    assert str(folder) in note
    assert lock.exists()


def test_a_pid_that_another_process_has_now_is_not_the_engine(run):
    folder, lock = run
    recorded(folder, lock, start=1)
    assert "removed the lock" in enter_run(folder)[0]
    assert not lock.exists()


def test_a_dead_engine_does_not_cost_a_live_one_its_lock(run):
    """Snakemake lets two engines work in one folder on different files: each has its own lock."""
    folder, lock = run
    recorded(folder, lock)
    second = lock.with_name("1.output.lock")
    enter_run(folder)
    second.write_text("results/y")
    record_engine(folder)
    (own,) = (path for path in (folder / ".snakemake/reprlab_engines").glob("*.json") if path.name != "other.json")
    facts = json.loads(own.read_text())
    assert facts["locks"] == ["1.output.lock"]
    own.rename(own.with_name("third.json"))
    own.with_name("third.json").write_text(json.dumps({**facts, "start": 1}))
    notes = enter_run(folder)
    assert len(notes) == 2
    assert lock.exists()
    assert not second.exists()


def test_an_engine_that_died_before_it_could_note_its_lock(run):
    folder, lock = run
    enter_run(folder)
    locks._gate.leave()
    (own,) = (folder / ".snakemake/reprlab_engines").glob("*.json")
    own.rename(own.with_name("other.json"))
    change(folder, start=1)
    lock.write_text("results/x")
    assert "removed the lock" in enter_run(folder)[0]
    assert not lock.exists()


@pytest.mark.parametrize("facts", [{"host": "elsewhere", "pid": 1, "start": 1}, {"pid": "x"}])
def test_a_lock_of_another_machine_or_an_unknown_holder_stays(run, facts):
    folder, lock = run
    recorded(folder, lock, **facts)
    enter_run(folder)
    assert lock.exists()


def test_a_lock_without_identity_stays(run):
    folder, lock = run
    lock.write_text("results/x")
    assert enter_run(folder) == []
    assert lock.exists()


def test_engines_start_one_after_the_other(run):
    folder, _ = run
    enter_run(folder)
    source = f"from pathlib import Path; from reprlab.runtime.locks import enter_run; enter_run(Path({str(folder)!r}))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    second = subprocess.Popen([sys.executable, "-c", source], stderr=subprocess.PIPE, text=True, env=environment)
    assert "waiting for another engine" in second.stderr.readline()
    time.sleep(0.2)
    assert second.poll() is None
    record_engine(folder)
    assert second.wait(10) == 0


def test_a_killed_engine_does_not_hold_up_the_next(run):
    folder, _ = run
    source = (
        "import os, signal; from pathlib import Path; from reprlab.runtime.locks import enter_run;"
        f"enter_run(Path({str(folder)!r})); os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", source], env=environment, check=False)
    assert enter_run(folder) == []


def test_a_folder_that_cannot_be_written_is_left_to_the_engine(tmp_path):
    (tmp_path / ".snakemake").write_text("a file")
    assert enter_run(tmp_path) == []
