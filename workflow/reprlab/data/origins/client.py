"""Running a registry's own client."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from reprlab.data.origins.errors import OriginError
from reprlab.runtime import supervise

TIMEOUT_SECONDS = 3600
_REASON_LENGTH = 300


def require(program: str) -> str:
    """Path of a client program.

    Raises:
        OriginError: it is not installed.
    """
    path = shutil.which(program)
    if path is None:
        raise OriginError(f"the client {program} is not on this machine")
    return path


def run_client(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run `command` in `folder`; its temporary files go there too.

    It ends with this process, and in a folder there is one at a time.

    Raises:
        OriginError: it failed or ran for more than `TIMEOUT_SECONDS`; the message is the client's own last error.
    """
    settings = {**os.environ, "TMPDIR": str(folder), **(environment or {})}
    lock = folder.with_name(f".{folder.name}.client")
    supervised = [sys.executable, "-P", supervise.__file__, str(os.getpid()), str(lock), *command]
    try:
        done = subprocess.run(
            supervised, cwd=folder, env=settings, capture_output=True, text=True, errors="replace",
            timeout=TIMEOUT_SECONDS, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise OriginError(f"no answer within {TIMEOUT_SECONDS} s") from None
    if done.returncode:
        raise OriginError(_reason(done.stderr or done.stdout) or f"exit status {done.returncode}")


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "e:", "npm err", "npm error"))]
    return " ".join((errors or lines[-1:])[:3])[:_REASON_LENGTH]


def downloaded(folder: Path, name: str) -> Path:
    """The file that a client left in `folder`: `name`, or the only file with its extension.

    Raises:
        OriginError: there is no such file.
    """
    wanted = folder / name
    if wanted.is_file():
        return wanted
    candidates = [path for path in folder.iterdir() if path.is_file() and path.suffix == wanted.suffix]
    if len(candidates) == 1:
        return candidates[0]
    raise OriginError(f"the client ended well but left no {name}")
