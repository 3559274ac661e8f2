"""Registries' own clients: they end with the stage that runs them, and the retry does not work beside them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from reprlab.data.origins.client import run_client
from reprlab.data.origins.errors import OriginError
from reprlab.runtime.process import start_time

CLIENT = "echo $$ >> {folder}/pids; sleep 300 & echo $! >> {folder}/pids; wait"
STAGE = (
    "from pathlib import Path; from reprlab.data.origins.client import run_client; "
    "run_client(['sh', '-c', {client!r}], Path({folder!r}))"
)


def start(folder: Path, client: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = STAGE.format(client=client.format(folder=folder), folder=str(folder))
    return subprocess.Popen([sys.executable, "-c", script], env=environment)


def pids(folder: Path, count: int) -> list[int]:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        found = (folder / "pids").read_text().split() if (folder / "pids").exists() else []
        if len(found) >= count:
            return [int(pid) for pid in found]
        time.sleep(0.02)
    raise AssertionError(f"{count} processes did not start")


def gone(numbers: list[int]) -> bool:
    until = time.monotonic() + 10
    while time.monotonic() < until and any(start_time(pid) is not None for pid in numbers):
        time.sleep(0.02)
    return all(start_time(pid) is None for pid in numbers)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_client_ends_with_its_stage_and_all_that_it_started(tmp_path: Path, number: int) -> None:
    folder = tmp_path / "incoming"
    folder.mkdir()
    stage = start(folder, CLIENT)
    running = pids(folder, 2)
    stage.send_signal(number)
    stage.wait()
    assert gone(running)


def test_a_retry_waits_until_the_first_client_is_gone(tmp_path: Path) -> None:
    """The client of the second stage notes which processes of the first are alive when it starts."""
    folder = tmp_path / "incoming"
    folder.mkdir()
    for _ in range(5):
        (folder / "pids").unlink(missing_ok=True)
        first = start(folder, CLIENT)
        running = pids(folder, 2)
        # One look: between two a dying process is reaped, and its state is no longer there to read.
        alive = " ".join(f"$(grep -qs ^State:.[^Z] /proc/{pid}/status && echo {pid})" for pid in running)
        second = start(folder, f"echo {alive} > {folder}/alive")
        first.kill()
        first.wait()
        assert second.wait(20) == 0
        assert (folder / "alive").read_text().split() == []


def test_what_a_client_says_is_the_reason(tmp_path: Path) -> None:
    with pytest.raises(OriginError, match=r"^error: no such package$"):
        run_client(["sh", "-c", "echo noise >&2; echo error: no such package >&2; exit 3"], tmp_path)
    with pytest.raises(OriginError, match=r"^exit status 4$"):
        run_client(["sh", "-c", "exit 4"], tmp_path)
    with pytest.raises(OriginError, match="could not be started"):
        run_client([str(tmp_path / "none")], tmp_path)
