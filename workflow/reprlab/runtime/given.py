"""Files and folders of the user's that settings or the environment name: what they hold is an input like any other."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

LARGEST = 256 * 2**20
"""Bytes up to which all is read; beyond, files are known by name, size and date, and `state_of` says so."""
MISSING = "missing"
_BLOCK = 1 << 20


def state_of(paths: Iterable[Path]) -> str:
    """What files and folders hold: `content <digest>`, `names, sizes and dates <digest>` where they are larger than
    `LARGEST` together, or `missing`. Folders are followed through links, and names count relative to them."""
    files = sorted(dict.fromkeys(one for path in paths for one in _files(path)))
    if not files:
        return MISSING
    sizes = [(name, file, file.stat()) for name, file in files]
    whole = sum(status.st_size for _, _, status in sizes) <= LARGEST
    digest = hashlib.sha256()
    for name, file, status in sizes:
        own = _digest(file) if whole else f"{status.st_size}\t{status.st_mtime_ns}"
        digest.update(f"{name}\0{own}\n".encode(errors="surrogateescape"))
    return f"{'content' if whole else 'names, sizes and dates'} {digest.hexdigest()[:16]}"


def stamps_of(paths: Iterable[Path]) -> str:
    """A digest that is another when any of the files was written, replaced, added or removed."""
    digest = hashlib.sha256()
    for name, file in sorted(dict.fromkeys(one for path in paths for one in _files(path))):
        status = file.stat()
        line = f"{name}\0{status.st_size}\t{status.st_mtime_ns}\t{status.st_ctime_ns}\t{status.st_ino}\n"
        digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """The regular files of a path, by their name below it; a folder that links to one above it is entered once."""
    if path.is_file():
        yield path.name, path
    seen: set[str] = set()
    for folder, folders, names in os.walk(path, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        for name in names:
            file = Path(folder, name)
            if file.is_file():
                yield file.relative_to(path).as_posix(), file


def _digest(file: Path) -> str:
    found = hashlib.sha256()
    with file.open("rb") as handle:
        while block := handle.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
