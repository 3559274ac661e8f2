"""Hand a stage's command to the process that has the libraries loaded (`runtime/preloaded.py`), and end as it ends.

Run by its path with nothing but the standard library, because it is all that a job's own process costs. Where nobody
listens, the command runs as it is.
"""

import json
import os
import signal
import socket
import struct
import sys
from typing import Any

_LOOK_SECONDS = 1.0


def main(arguments: list[str]) -> int:
    """Ask for the job and wait; returns its exit status, or ends by the signal that ended it."""
    parent = os.getppid()
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(os.environ["REPRLAB_PRELOADED"])
    except OSError:
        os.execvp("python", ["python", *arguments])  # noqa: S606
    content = json.dumps({"arguments": arguments, "environment": dict(os.environ)}).encode()
    socket.send_fds(server, [struct.pack("i", len(content))], [1, 2])
    server.sendall(content)
    # The job is in the same group and hears an interrupt itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server.settimeout(_LOOK_SECONDS)
    pid = _answer(server, parent)
    if pid is not None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda received, _: os.kill(pid, received))
        status = _answer(server, parent)
        if status is not None and status < 0:
            if -status != signal.SIGKILL:
                signal.signal(-status, signal.SIG_DFL)
            os.kill(os.getpid(), -status)
        if status is not None:
            return status
    sys.stderr.write("error: the process that has the libraries loaded has ended; give the same command again\n")
    return 1


def _answer(server: socket.socket, parent: int) -> Any:
    """The next number, or None where the other side or this process's own parent has ended."""
    while os.getppid() == parent:
        try:
            answer = server.recv(4)
        except TimeoutError:
            continue
        return struct.unpack("i", answer)[0] if answer else None
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
