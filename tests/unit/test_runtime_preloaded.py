"""Jobs forked from the process that has the libraries loaded end as jobs of their own do, and never outlive anybody."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from reprlab.runtime import preloaded
from reprlab.runtime.plan_file import PlannedJob, write_plan

PACKAGE = Path(preloaded.__file__).resolve().parents[1]
STAGE = '''
"""Says who it is, and waits."""
import os, sys, time
from pathlib import Path
from reprlab.runtime.cli import run_stage
from reprlab.runtime.errors import ReprlabError


def wait(*, out: Path, seconds: float, number: int = 0) -> None:
    out.write_text(f"{os.getpid()} {'numpy' in sys.modules} {os.environ.get('ASKED')}")
    print("said")
    sys.stderr.write("complained\\n")
    if number:
        os.kill(os.getpid(), number)
    if seconds < 0:
        raise ReprlabError("the setting is wrong; mend it")
    time.sleep(seconds)
    out.write_text(out.read_text() + " done")


if __name__ == "__main__":
    run_stage(wait)
'''
JOBS = {
    "short": {"seconds": 0},
    "long": {"seconds": 60},
    "wrong": {"seconds": -1},
    "killed": {"seconds": 0, "number": 9},
}


class Shell:
    """What the engine has: a process that forks, and a prefix for the commands of its rules."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self.folder, self.prefix = folder, prefix

    def begin(self, key: str, threads: int = 1) -> subprocess.Popen[str]:
        command = f"python -m reprlab.stages.wait --plan plan.sqlite --job {key} --threads {threads} --log-level info"
        return self.run(command)

    def run(self, command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", self.prefix + command],
            cwd=self.folder,
            env={**os.environ, "ASKED": "yes"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wrote(self, key: str) -> list[str]:
        """What the job wrote, once it has."""
        path = self.folder / key
        until = time.monotonic() + 30
        while not path.exists() or not path.read_text():
            assert time.monotonic() < until
            time.sleep(0.01)
        return path.read_text().split()


@pytest.fixture
def shell(tmp_path, monkeypatch) -> Iterator[Shell]:
    source, run = tmp_path / "a checkout", tmp_path / "a run"
    shutil.copytree(PACKAGE, source / "reprlab", ignore=shutil.ignore_patterns("__pycache__"))
    (source / "reprlab/stages/wait.py").write_text(textwrap.dedent(STAGE))
    run.mkdir()
    jobs = [PlannedJob("wait", key, {}, {"out": key}, settings, code={"numpy": "0"}) for key, settings in JOBS.items()]
    write_plan(run / "plan.sqlite", jobs, {})
    (tmp_path / "frozen.json").write_text("{}")
    monkeypatch.setenv("PYTHONPATH", str(source))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for name in (preloaded.SOCKET, preloaded.CLIENT):
        monkeypatch.setenv(name, "")
    shell = Shell(run, preloaded.start(run))
    yield shell
    end(preloaded._started.pop())


def end(server: subprocess.Popen[bytes]) -> None:
    """What the end of the engine does."""
    server.stdin.close()
    server.wait(30)


def gone(pid: int, seconds: float = 5) -> bool:
    until = time.monotonic() + seconds
    while Path(f"/proc/{pid}").exists():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def test_a_job_is_forked_and_its_words_and_status_arrive(shell):
    job = shell.begin("short")
    assert job.communicate(timeout=60) == ("said\n", "complained\n")
    assert job.returncode == 0
    pid, loaded, asked, done = shell.wrote("short")
    assert (loaded, asked, done) == ("True", "yes", "done")
    assert int(pid) != job.pid
    first = Path(shell.folder / "results/logs/wait/short.log").read_text().splitlines()[0]
    assert first.startswith("$ python -m reprlab.stages.wait --plan plan.sqlite --job short")


def test_a_job_that_fails_fails_in_its_shell(shell):
    wrong, killed = shell.begin("wrong"), shell.begin("killed")
    assert wrong.communicate(timeout=60)[1].splitlines()[-1] == "error: the setting is wrong; mend it"
    assert wrong.returncode == 1
    assert killed.wait(60) == 128 + signal.SIGKILL


def test_other_programs_and_jobs_of_several_threads_start_by_themselves(shell):
    other = shell.run("python -c 'import sys; print(sys.flags.isolated, len(sys.argv))'")
    assert other.communicate(timeout=60)[0] == "0 1\n"
    several = shell.begin("short", threads=2)
    assert several.wait(60) == 0
    assert shell.wrote("short")[1] == "False"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_job_ends_with_the_process_that_waits_for_it(shell, number):
    job = shell.begin("long")
    pid = int(shell.wrote("long")[0])
    (client,) = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    os.kill(int(client), number)
    assert gone(pid)
    assert job.wait(10) == 128 + number


def test_a_job_ends_with_its_shell(shell):
    job = shell.begin("long")
    pid = int(shell.wrote("long")[0])
    job.kill()
    assert gone(pid)


def test_all_end_with_the_engine(shell):
    job = shell.begin("long")
    pid = int(shell.wrote("long")[0])
    place = Path(os.environ[preloaded.SOCKET]).parent
    end(preloaded._started[-1])
    assert gone(pid)
    assert job.wait(10) == 128 + signal.SIGKILL
    assert not place.exists()


def test_what_forks_is_killed_and_jobs_start_by_themselves(shell):
    running = shell.begin("long")
    pid = int(shell.wrote("long")[0])
    server = preloaded._started[-1]
    server.kill()
    assert gone(pid)
    assert "has ended; give the same command again" in running.communicate(timeout=10)[1]
    assert running.returncode == 1
    job = shell.begin("short")
    assert job.wait(60) == 0
    assert shell.wrote("short")[1] == "False"


def test_without_room_for_a_socket_the_shell_is_as_ever(tmp_path, monkeypatch):
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.setattr(preloaded.tempfile, "tempdir", str(deep))
    assert preloaded.start(tmp_path) == "set -euo pipefail; "
    assert list(deep.iterdir()) == []
