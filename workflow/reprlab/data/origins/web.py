"""One file at an address that its publisher keeps: of a set that no repository carries."""

import re
from pathlib import Path

from reprlab.data.origins.errors import OriginError
from reprlab.data.origins.http_files import download
from reprlab.registry.dataset_entries import ArchiveFile

_SPEC = re.compile(r"^https://[\w.-]+/[^?#]*$")


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Bring the file from the folder at the address `spec` into `folder`."""
    target = folder / file.stored
    download(address_of(spec, file), target, file.bytes)
    return target


def address_of(spec: str, file: ArchiveFile) -> str:
    """The address of a file: its name in the folder `spec`.

    Raises:
        OriginError: the folder is not one at an https address.
    """
    if not _SPEC.match(spec):
        raise OriginError(f"{spec!r} is not https://server/folder")
    return f"{spec.rstrip('/')}/{file.file}"
