"""Debian through apt: `apt-get download` of one exact version; nothing is installed."""

import re
from pathlib import Path

from reprlab.data.origins.client import downloaded, require, run_client
from reprlab.data.origins.errors import OriginError
from reprlab.registry.dataset_entries import ArchiveFile

_SPEC = re.compile(r"^[a-z0-9][a-z0-9+.-]+=[A-Za-z0-9.+:~-]+$")
_UNKNOWN = ("Unable to locate", "was not found", "no candidate", "Can't find a source")


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Download `spec` ("package=version") with apt into `folder`."""
    if not _SPEC.match(spec):
        raise OriginError(f"{spec!r} is not package=version")
    try:
        run_client([require("apt-get"), "download", spec], folder)
    except OriginError as error:
        if any(text in str(error) for text in _UNKNOWN):
            raise OriginError(
                f"{error}; apt's package lists may be missing (run `apt-get update`) or be of another Debian release"
            ) from None
        raise
    return downloaded(folder, file.file)
