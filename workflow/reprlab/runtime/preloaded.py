"""One process that has the libraries loaded and forks for each job: starting a stage costs no import.

Importing torch and transformers takes seconds, and a small scale is a hundred small jobs. The engine starts
`python -m reprlab.runtime.preloaded FOLDER`; the command of each rule then goes through `runtime/hand_over.py`, which
sends its words, its environment and its output here. The process ends when its standard input does, whose other end
the engine holds, however that ends.
"""

import contextlib
import gc
import importlib
import itertools
import json
import os
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.plan_file import PlanFile

SOCKET, CLIENT = "REPRLAB_PRELOADED", "REPRLAB_HAND_OVER"
"""Variables of a rule's shell: where this process listens, and the program that asks it."""

_MODULE = "reprlab.stages."
# What stages that contain these modules import while they work. A stage imports for itself what is not named here.
_LIBRARIES = {
    "reprlab.artifacts.tables": ("pandas", "pyarrow.parquet", "pyarrow.pandas_compat"),
    "reprlab.evaluation.metrics": ("sklearn.metrics",),
    "reprlab.models.build": ("torch", "transformers.modeling_utils"),
    "reprlab.reporting.figures": (
        "matplotlib.pyplot",
        "matplotlib.backends.backend_pdf",
        "matplotlib.backends.backend_svg",
        "fontTools.subset",
    ),
    "reprlab.text.tokenizer_folder": ("torch", "transformers.models.auto.tokenization_auto"),
}


def start(folder: Path, threads: int = 1) -> str:
    """Start the process, for jobs of this many threads; returns what to put before the commands of rules in bash.

    Without a place for its socket that is what the engine puts there itself: stages start by themselves.

    Args:
        folder: of the run, in which jobs work.
        threads: libraries fix their number when they are loaded.
    """
    place = Path(tempfile.mkdtemp(prefix="reprlab-"))
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(place / "socket"))
        except OSError:  # a path of more than 107 characters
            shutil.rmtree(place)
            return "set -euo pipefail; "
        listener.listen(64)
        variables = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
        command = [sys.executable, "-m", "reprlab.runtime.preloaded", str(listener.fileno()), str(place)]
        environment = {**os.environ, **dict.fromkeys(variables, str(threads)), "TOKENIZERS_PARALLELISM": "false"}
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, pass_fds=[listener.fileno()]
        )
    _started.append(process)
    os.environ[SOCKET] = str(place / "socket")
    os.environ[CLIENT] = str(Path(__file__).with_name("hand_over.py"))
    # `python` of a stage, in a rule's shell; other programs and several threads go their own way.
    return (
        f'set -euo pipefail; python() {{ case "$* " in "-m {_MODULE}"*" --threads {threads} "*)'
        f' command python -I -S "${CLIENT}" "$@";; *) command python "$@";; esac; }}; '
    )


_started: list[subprocess.Popen[bytes]] = []
"""Their standard input stays open as long as the engine lives."""


class _EngineEndedError(Exception):
    """There is nobody left to serve."""


class _Server:
    """Forks for who asks; its children run jobs, each for a client that waits for it."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ, self._accept)
        self.selector.register(0, selectors.EVENT_READ, self._engine_ended)
        self.jobs: dict[socket.socket, tuple[int, int]] = {}
        self.loaded: set[str] = set()

    def serve(self) -> dict[str, Any]:
        """Serve until the engine ends, which raises. Returns in a child alone: the request that it is to do."""
        while True:
            ready = [key for key, _ in self.selector.select()]
            # Those who left first: the retry of a job that was killed must find it gone.
            for key in sorted(ready, key=lambda key: key.fileobj is self.listener):
                if request := key.data(key.fileobj):
                    return request

    def _engine_ended(self, _: Any) -> None:
        for client in list(self.jobs):
            self._client_left(client)
        raise _EngineEndedError

    def _accept(self, _: Any) -> dict[str, Any] | None:
        client, _address = self.listener.accept()
        try:
            request, outputs = _receive(client)
        except (OSError, ValueError, struct.error):
            client.close()  # it was killed while it asked
            return None
        self._load(request["arguments"])
        # Collectors of children leave alone what they share.
        gc.freeze()
        pid = os.fork()
        if not pid:
            os.dup2(outputs[0], 1)
            os.dup2(outputs[1], 2)
            self.selector.close()
            for held in (self.listener, client, *self.jobs):
                held.close()
            for _pid, watched in self.jobs.values():
                os.close(watched)
        for output in outputs:
            os.close(output)
        if not pid:
            return request
        ended = os.pidfd_open(pid)
        self.jobs[client] = (pid, ended)
        self.selector.register(client, selectors.EVENT_READ, self._client_left)
        self.selector.register(ended, selectors.EVENT_READ, lambda _: self._finish(client))
        with contextlib.suppress(OSError):
            client.sendall(struct.pack("i", pid))
        return None

    def _client_left(self, client: socket.socket) -> None:
        """A client says nothing after its request: it is gone, and its job goes with it."""
        if client in self.jobs:
            os.kill(self.jobs[client][0], signal.SIGKILL)
            self._finish(client)

    def _finish(self, client: socket.socket) -> None:
        if client not in self.jobs:
            return
        pid, ended = self.jobs.pop(client)
        _, status = os.waitpid(pid, 0)
        self.selector.unregister(client)
        self.selector.unregister(ended)
        os.close(ended)
        with contextlib.suppress(OSError):
            client.sendall(struct.pack("i", os.waitstatus_to_exitcode(status)))
        client.close()

    def _load(self, arguments: list[str]) -> None:
        """Import the stage's modules of the package, and the libraries that such modules import while they work."""
        options = dict(itertools.pairwise(arguments))
        try:
            modules = PlanFile(Path(options["--plan"])).job(_stage(arguments), options["--job"]).code
        except (KeyError, ReprlabError):
            return  # the stage says it
        libraries = [name for module, names in _LIBRARIES.items() if module in modules for name in names]
        for name in [*libraries, *modules]:
            if name not in self.loaded:
                self.loaded.add(name)
                # What cannot be imported is for the stage to say, if it needs it at all.
                with contextlib.suppress(Exception):
                    importlib.import_module(name)


def _receive(client: socket.socket) -> tuple[dict[str, Any], list[int]]:
    header, outputs, _, _ = socket.recv_fds(client, 4, 2)
    (size,) = struct.unpack("i", header)
    with client.makefile("rb") as stream:
        return json.loads(stream.read(size)), outputs


def _stage(arguments: list[str]) -> str:
    return arguments[1].removeprefix(_MODULE)


def _be(request: dict[str, Any]) -> None:
    """Do what the client would have done by itself."""
    from reprlab.runtime.cli import run_stage

    arguments = request["arguments"]
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.orig_argv[:] = ["python", *arguments]
    sys.argv[:] = arguments[1:]
    module = importlib.import_module(arguments[1])
    run_stage(getattr(module, _stage(arguments)))


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Signals to the group of the engine are for engine and jobs: this process ends after them."""
    kept = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def main(descriptor: str, place: str) -> None:
    """Serve on the listening socket `descriptor`, which lies in the folder `place`, until the engine ends."""
    with _signals():
        try:
            request = _Server(socket.socket(fileno=int(descriptor))).serve()
        except _EngineEndedError:
            shutil.rmtree(place, ignore_errors=True)
            return
    _be(request)


if __name__ == "__main__":
    main(*sys.argv[1:])
