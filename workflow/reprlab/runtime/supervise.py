"""Run a program of another project that ends with its caller: `python -P supervise.py PID LOCK COMMAND ...`.

A stage that is killed with -9 cannot end what it started, and a download client that goes on would work beside that of
the retry. This process, which nothing but the kernel need tell, ends the client and all that it started when the
process PID ends, and holds LOCK until they are gone. (It is run by its path: a client may have its own PYTHONPATH.)
"""

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time
from typing import Any

_PR_SET_PDEATHSIG = 1


def _signal_at_death_of_parent(number: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def main(arguments: list[str]) -> int:
    """Run the command; returns its exit status."""
    parent, lock, *command = arguments
    client: subprocess.Popen[bytes] | None = None

    def end(*_: Any) -> None:
        if client is not None:
            _end_group(client.pid)
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    _signal_at_death_of_parent(signal.SIGTERM)
    with open(lock, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if os.getppid() != int(parent):
            return 1
        # A signal waits until the client is known: what it has started by then would outlive it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            client = subprocess.Popen(command, start_new_session=True, preexec_fn=_begin_client)
        except OSError as error:
            sys.stderr.write(f"error: {command[0]} could not be started ({error.strerror})\n")
            return 127
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return client.wait()


def _begin_client() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    _signal_at_death_of_parent(signal.SIGKILL)


def _end_group(group: int) -> None:
    """Kill a group of processes and wait until they are gone, a second at most for those that nobody reaps."""
    until = time.monotonic() + 1
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.killpg(group, signal.SIGKILL)
        os.waitpid(group, 0)
        while time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
