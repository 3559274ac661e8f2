"""A stage and its parent: the stage ends when the engine that started it dies."""

import ctypes
import os
import signal
import socket
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1
_POLL_SECONDS = 1.0
# Set by the engine for its jobs. The chain of parents is broken once the engine is dead.
_ENGINE = "REPRLAB_ENGINE"


def end_with_parent() -> None:
    """Arrange that this process ends soon after its engine dies.

    The direct parent is the shell of the rule. The kernel's parent-death signal covers that shell; a thread watches
    the shell's own parent too, because a shell outlives an engine that was killed with -9.
    """
    parent = os.getppid()
    if parent <= 1:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
    ancestors = {**_engine_chain(parent), **_announced_engine()}
    watcher = threading.Thread(target=_watch, args=(ancestors,), daemon=True, name="parent-watch")
    watcher.start()


def announce_engine() -> None:
    """Tell the jobs of this engine who it is; of nested engines each tells its own."""
    os.environ[_ENGINE] = f"{socket.gethostname()} {os.getpid()} {start_time(os.getpid())}"


def _announced_engine() -> dict[int, int]:
    """The engine that started this process, even if it died while this process was starting: pid to start time."""
    host, pid, start = [*os.environ.get(_ENGINE, "").split(), "", "", ""][:3]
    if host != socket.gethostname() or not (pid.isdigit() and start.isdigit()):
        return {}
    return {int(pid): int(start)}


def _engine_chain(parent: int) -> dict[int, int]:
    """Processes from `parent` up to and including the first Snakemake engine: pid to start time; else the parent."""
    chain: dict[int, int] = {}
    pid = parent
    while pid > 1:
        start = start_time(pid)
        if start is None:
            break
        chain[pid] = start
        if _is_engine(pid):
            return chain
        pid = _parent_of(pid)
    first = start_time(parent)
    return {parent: first} if first is not None else {}


def _watch(ancestors: dict[int, int]) -> None:
    while all(start_time(pid) == start for pid, start in ancestors.items()):
        time.sleep(_POLL_SECONDS)
    os.killpg(0, signal.SIGKILL) if os.getpgrp() == os.getpid() else os.kill(os.getpid(), signal.SIGKILL)


def _stat(pid: int) -> list[str] | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as handle:
            fields = handle.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields


def start_time(pid: int) -> int | None:
    """When a live process started, in clock ticks since boot; with the pid it names a process. None: there is none."""
    fields = _stat(pid)
    return int(fields[19]) if fields else None


def _parent_of(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def _is_engine(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as handle:
            return b"snakemake" in handle.read()
    except OSError:
        return False
