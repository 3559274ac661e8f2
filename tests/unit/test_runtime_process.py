"""A stage ends with its engine, also when the engine died while the stage was starting."""

import os
import subprocess
import sys
import time

from reprlab.runtime.process import announce_engine, start_time


def stage(**variables: str) -> subprocess.Popen:
    source = "import time; from reprlab.runtime.process import end_with_parent; end_with_parent(); time.sleep(60)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    return subprocess.Popen([sys.executable, "-c", source], env=environment)


def test_the_engine_died_before_the_stage_looked(monkeypatch):
    monkeypatch.delenv("REPRLAB_ENGINE", raising=False)
    announce_engine()
    host, pid, start = os.environ["REPRLAB_ENGINE"].split()
    assert (int(pid), int(start)) == (os.getpid(), start_time(os.getpid()))
    orphan = stage(REPRLAB_ENGINE=f"{host} {pid} {int(start) - 1}")
    assert orphan.wait(30) == -9
    other = stage(REPRLAB_ENGINE=f"elsewhere {pid} 1")
    cared_for = stage()
    time.sleep(3)
    assert other.poll() is None
    assert cared_for.poll() is None
    for process in (other, cared_for):
        process.kill()
        process.wait()
