"""Locks that a killed engine left behind.

Snakemake's lock does not say who holds it, so after `kill -9` the same command would be refused. Each engine leaves its
identity beside the lock; a lock whose engine is known to be dead, on this machine, is removed.
"""

import json
import os
import socket
from pathlib import Path

from reprlab.runtime.files import write_json
from reprlab.runtime.process import start_time

_IDENTITY = "reprlab_engine.json"


def record_engine(run_folder: Path) -> None:
    """Note that this process holds the lock of a run. Call it when the engine has the lock."""
    identity = {"host": socket.gethostname(), "pid": os.getpid(), "start": start_time(os.getpid())}
    write_json(run_folder / ".snakemake" / _IDENTITY, identity)


def release_stale_lock(run_folder: Path) -> str:
    """Remove the lock of a run whose engine died on this machine; returns a line for the user, "" if nothing was done.

    A lock whose holder is alive, unknown, or on another machine stays.
    """
    locks = sorted((run_folder / ".snakemake/locks").glob("*.lock"))
    if not locks:
        return ""
    try:
        identity = json.loads((run_folder / ".snakemake" / _IDENTITY).read_text(encoding="utf-8"))
        host, pid, start = identity["host"], int(identity["pid"]), identity["start"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    if host != socket.gethostname() or (start is not None and start_time(pid) == start):
        return ""
    for lock in locks:
        lock.unlink(missing_ok=True)
    return f"removed the lock of a run that died (process {pid}); its finished files are kept"
