"""A file that is already on this machine."""

import shutil
from pathlib import Path

from reprlab.data.origins.errors import OriginError
from reprlab.data.origins.slices import builder_of, write_first_rows
from reprlab.registry.dataset_entries import ArchiveFile


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Copy the file `spec`, or `file` of the folder `spec`, into `folder`."""
    source = Path(spec).expanduser()
    if not source.is_absolute():
        raise OriginError(f"{spec!r} is not an absolute path")
    if source.is_dir():
        source = source / file.file
    target = folder / file.stored
    if file.rows:
        if not source.is_file():
            raise OriginError(f"{source}: no such file")
        return write_first_rows(file, target, builder_of(source), data_files=str(source))
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise OriginError(f"{source}: {error.strerror}") from None
    return target
