"""One file at an address that its publisher keeps: of a set that no repository carries."""

from pathlib import Path

from reprlab.data.origins.http_files import download
from reprlab.registry.dataset_entries import ArchiveFile


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Bring the file from the folder at the address `spec` into `folder`."""
    target = folder / file.stored
    download(address_of(spec, file), target, file.bytes)
    return target


def address_of(spec: str, file: ArchiveFile) -> str:
    """The address of a file: its name in the folder `spec`."""
    return f"{spec.rstrip('/')}/{file.file}"
