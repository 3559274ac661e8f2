"""Atomic output: a file or folder appears under its name whole, or not at all."""

import contextlib
import errno
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.seals import break_seal, put_seal

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
_NOT_WRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}


def describe_os_error(error: OSError, path: Path) -> ReprlabError:
    """Turn a failed write to `path` into the line that the user sees."""
    if error.errno in _DISK_FULL:
        return ReprlabError(f"{path}: the disk is full; free some space and run the same command again")
    if error.errno in _NOT_WRITABLE:
        return ReprlabError(f"{path}: cannot be written ({error.strerror}); check the permissions of its folder")
    return ReprlabError(f"{path}: {error.strerror or error}")


def require_writable(folder: Path) -> None:
    """Try to write where `folder` is or will be, so that a bad place is said before anything runs.

    Raises:
        ReprlabError: the disk is full or the folder is not writable.
    """
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.NamedTemporaryFile(prefix=".reprlab.", dir=existing) as trial:
            trial.write(bytes(4096))
            trial.flush()
    except OSError as error:
        raise describe_os_error(error, folder) from error


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_tree(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as handle:
                os.fsync(handle.fileno())


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` when the block ends well.

    The file is flushed to disk before the rename, so that a power cut leaves the old file or the new one.

    Raises:
        ReprlabError: the disk is full or the folder is not writable.
    """
    path = Path(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _discard_unfinished(path)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=f".part{path.suffix}", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        temporary.chmod(0o666 & ~_umask())
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        break_seal(path)
        os.replace(temporary, path)
        _sync_folder(path.parent)
        put_seal(path)
    except OSError as error:
        raise describe_os_error(error, path) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _discard_unfinished(path: Path) -> None:
    """Remove what a killed writer of `path` left beside it. Locks, the engine's or the cache's, allow one writer."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
        if re.fullmatch(
            rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}\.(part{re.escape(path.suffix)}|part|old)", left.name
        ):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_directory(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; it takes the place of `path` when the block ends well.

    Raises:
        ReprlabError: the disk is full or the parent folder is not writable.
    """
    path = Path(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _discard_unfinished(path)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        temporary.chmod(0o777 & ~_umask())
        yield temporary
        replace_directory(temporary, path)
    except OSError as error:
        raise describe_os_error(error, path) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def replace_directory(source: Path, target: Path) -> None:
    """Flush the folder `source` and move it to `target` (same file system), replacing what is there."""
    _sync_tree(source)
    break_seal(target)
    if target.exists():
        retired = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=target.parent))
        os.replace(target, retired / target.name)
        os.replace(source, target)
        shutil.rmtree(retired, ignore_errors=True)
    else:
        os.replace(source, target)
    _sync_folder(target.parent)
    put_seal(target)


def remove_directory(path: Path) -> None:
    """Remove a folder at once: whoever is killed meanwhile leaves nothing of it under its name.

    Unfinished work of which a part is gone would be taken for whole by the stage that is started again.
    """
    _discard_unfinished(path)
    if path.exists():
        retired = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".old", dir=path.parent))
        os.replace(path, retired / path.name)
        shutil.rmtree(retired, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
