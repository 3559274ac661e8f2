"""Locks of the engine that outlive it, and two engines that start at the same moment.

Snakemake's locks do not say who holds them, so after `kill -9` the same command would be refused; and between its look
at the locks and its own lock a second engine slips through. So engines of one run start one after the other (a lock of
the kernel, which no dead process holds), each notes itself and which of Snakemake's locks are its own, and the locks of
an engine that is known to be dead, on this machine, are removed.
"""

import atexit
import fcntl
import json
import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import write_text
from reprlab.runtime.process import start_time

_ENGINES = "reprlab_engines"
_START = "reprlab_start.lock"


@dataclass(frozen=True)
class _Engine:
    """A noted engine. `locks` are the names of its lock files; None while it has not come to its first job."""

    file: Path
    host: str
    pid: int
    start: int | None
    locks: frozenset[str] | None

    @property
    def is_known_dead(self) -> bool:
        return self.host == socket.gethostname() and (self.start is None or start_time(self.pid) != self.start)


class _Gate:
    """The kernel's lock that one starting engine of a run holds."""

    def __init__(self) -> None:
        self._handle: int | None = None

    def enter(self, folder: Path) -> None:
        self._handle = os.open(folder / _START, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sys.stderr.write(f"note: waiting for another engine that starts in {folder.parent}\n")
                fcntl.flock(self._handle, fcntl.LOCK_EX)
        except OSError:
            return  # a file system without such locks: all else still holds

    def leave(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


_gate = _Gate()


def enter_run(run_folder: Path) -> list[str]:
    """Wait for engines that are starting in this run, note this one, and remove the locks of dead ones.

    Call it before the engine looks at the locks. A lock whose holder is alive, unknown, or on another machine stays.

    Returns:
        lines for the user.
    """
    folder = run_folder / ".snakemake"
    try:
        folder.joinpath(_ENGINES).mkdir(parents=True, exist_ok=True)
        _gate.enter(folder)
        notes = _release(folder, run_folder)
        _note(folder, None)
    except (OSError, ReprlabError):
        return []  # a folder that cannot be written: the engine says so itself
    atexit.register(_own_file(folder).unlink, missing_ok=True)
    return notes


def record_engine(run_folder: Path) -> None:
    """Note which locks this engine holds, and let the next one start. Call it when the engine has its locks."""
    folder = run_folder / ".snakemake"
    try:
        others = [engine.locks or frozenset() for engine in _engines(folder) if engine.file != _own_file(folder)]
        _note(folder, _lock_names(folder) - frozenset().union(*others))
    except (OSError, ReprlabError):
        return  # a full disk: the first job says so
    finally:
        _gate.leave()


def is_at_work(run_folder: Path) -> bool:
    """Whether an engine works in this run: one that is alive, or on another machine, where nobody here can look."""
    return any(not engine.is_known_dead for engine in _engines(run_folder / ".snakemake"))


def _release(folder: Path, run_folder: Path) -> list[str]:
    engines = _engines(folder)
    dead = [engine for engine in engines if engine.is_known_dead]
    alive = [engine for engine in engines if not engine.is_known_dead]
    stale = frozenset().union(*(engine.locks or frozenset() for engine in dead))
    if any(engine.locks is None for engine in dead):
        # It died between Snakemake's lock and the note of it. Nobody else is there now: this engine holds the gate.
        stale |= _lock_names(folder) - frozenset().union(*(engine.locks or frozenset() for engine in engines))
    stale -= frozenset().union(*(engine.locks or frozenset() for engine in alive))
    removed = False
    for name in stale & _lock_names(folder):
        (folder / "locks" / name).unlink(missing_ok=True)
        removed = True
    for engine in dead:
        engine.file.unlink(missing_ok=True)
    notes = [
        f"process {engine.pid} of {engine.host} works in {run_folder} too; what it is making cannot be made here"
        for engine in alive
        if engine.locks
    ]
    if removed:
        who = ", ".join(str(engine.pid) for engine in dead)
        notes.append(f"removed the lock of a run that died (process {who}); its finished files are kept")
    return notes


def _engines(folder: Path) -> list[_Engine]:
    found = []
    for file in sorted(folder.joinpath(_ENGINES).glob("*.json")):
        try:
            facts = json.loads(file.read_text(encoding="utf-8"))
            locks = facts["locks"] if facts["locks"] is None else frozenset(facts["locks"])
            found.append(_Engine(file, facts["host"], int(facts["pid"]), facts["start"], locks))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def _lock_names(folder: Path) -> frozenset[str]:
    return frozenset(path.name for path in folder.glob("locks/*.lock"))


def _own_file(folder: Path) -> Path:
    return folder / _ENGINES / f"{socket.gethostname()}-{os.getpid()}.json"


def _note(folder: Path, locks: frozenset[str] | None) -> None:
    identity = {"host": socket.gethostname(), "pid": os.getpid(), "start": start_time(os.getpid())}
    facts = {**identity, "locks": None if locks is None else sorted(locks)}
    write_text(_own_file(folder), json.dumps(facts) + "\n")
