"""Probes of origins without downloading data: mirror first, then one small question with a timeout."""

import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from reprlab.data.origins.errors import OriginError
from reprlab.data.origins.github import ADDRESS, MIRROR_VARIABLE
from reprlab.data.origins.web import address_of
from reprlab.hub.answers import reason
from reprlab.registry.dataset_entries import ArchiveFile

TIMEOUT_SECONDS = 15
_GITHUB = re.compile(r"^(?P<owner>[\w-]+)/(?P<name>[\w.-]+)@(?P<commit>[0-9a-f]{40})(:(?P<path>.+))?$")
_HUB = re.compile(r"^(?P<repository>[\w.-]+(/[\w.-]+)?)@(?P<revision>[\w./-]+?)(:(?P<path>.+))?$")


def probe(origin: str, file: ArchiveFile) -> tuple[str, int | None]:
    """Ask whether `origin` has `file`.

    Returns:
        what answered, and the size in bytes where it was told.

    Raises:
        OriginError: it would not deliver; the message is the reason: network, login, licence, client, version.
    """
    scheme, _, spec = origin.partition(":")
    match scheme:
        case "github":
            return _github(spec, file)
        case "hub":
            return _hub_file(spec, file)
        case "pypi":
            return _pypi(spec)
        case "npm":
            return _client(["npm", "view", spec, "version"], spec), file.bytes
        case "debian":
            return _client(["apt-get", "--print-uris", "download", spec], spec), file.bytes
        case "local":
            return _local(spec, file)
        case "web":
            return "the server", _size(address_of(spec, file))
    raise OriginError(f"unknown origin {scheme!r}")


def hub_file(repository: str, revision: str, path: str, kind: str) -> int | None:
    """Size of one file of a repository of the hub, by its headers alone; a copy in the hub's own cache is enough.

    Raises:
        OriginError: no network, a login or licence is missing, or there is no such file.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache

    cached = try_to_load_from_cache(repository, path, revision=revision, repo_type=kind)
    if isinstance(cached, str):
        return Path(cached).stat().st_size
    try:
        address = hf_hub_url(repository, path, revision=revision, repo_type=kind)
        size: Any = get_hf_file_metadata(address, timeout=TIMEOUT_SECONDS).size
        return size if size is None else int(size)
    except Exception as error:
        # The client raises a family of classes of several libraries; each means that the hub did not answer.
        raise OriginError(f"{path}: {reason(error, repository, revision, kind)}") from None


def _hub_file(spec: str, file: ArchiveFile) -> tuple[str, int | None]:
    match = _HUB.match(spec)
    if not match:
        raise OriginError(f"{spec!r} is not repository@revision")
    return "the hub", hub_file(match["repository"], match["revision"], match["path"] or file.file, "dataset")


def _github(spec: str, file: ArchiveFile) -> tuple[str, int | None]:
    match = _GITHUB.match(spec)
    if not match:
        raise OriginError(f"{spec!r} is not owner/name@commit")
    path = match["path"] or file.file
    mirror = os.environ.get(MIRROR_VARIABLE)
    if mirror:
        copy = Path(mirror).expanduser() / "github" / match["owner"] / match["name"] / path
        if copy.is_file():
            return "the mirror", copy.stat().st_size
    address = ADDRESS.format(
        owner=match["owner"], name=match["name"], commit=match["commit"], path=urllib.parse.quote(path)
    )
    return "the server", _size(address)


def _size(address: str) -> int | None:
    """Bytes of the file at an address, where the server tells them."""
    request = urllib.request.Request(address, method="HEAD")  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            length = answer.headers.get("Content-Length")
            return int(length) if length and "Content-Encoding" not in answer.headers else None
    except urllib.error.HTTPError as error:
        raise OriginError(f"the server answered {error.code} {error.reason}") from None
    except (urllib.error.URLError, OSError) as error:
        raise OriginError(f"not reachable, is there a network? ({_short(getattr(error, 'reason', error))})") from None


def _pypi(spec: str) -> tuple[str, int | None]:
    name, _, version = spec.partition("==")
    command = [sys.executable, "-m", "pip", "index", "versions", "--pre", name, "--disable-pip-version-check"]
    listed = _output([*command, "--retries", "0", "--timeout", str(TIMEOUT_SECONDS)])
    if not re.search(rf"(^|[\s(,]){re.escape(version)}($|[\s),])", listed):
        raise OriginError(f"pip knows {name}, but not its version {version}")
    return "pip", None


def _client(command: list[str], spec: str) -> str:
    if shutil.which(command[0]) is None:
        raise OriginError(f"the client {command[0]} is not on this machine")
    if not _output(command).strip():
        raise OriginError(f"{command[0]} knows no {spec}")
    return command[0]


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=4 * TIMEOUT_SECONDS,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise OriginError(f"{command[0]}: no answer, is there a network?") from None
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()] or ["no reason given"]
        raise OriginError(_short(next((line for line in lines if line.lower().startswith(("error", "e:"))), lines[-1])))
    return done.stdout


def _local(spec: str, file: ArchiveFile) -> tuple[str, int | None]:
    path = Path(spec).expanduser()
    path = path / file.file if path.is_dir() else path
    if not path.is_file():
        raise OriginError(f"{path}: no such file")
    return "this machine", path.stat().st_size


def _short(error: object) -> str:
    return " ".join(str(error).split())[:160]
