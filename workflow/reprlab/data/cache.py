"""One download in the cache, with its unpacked members: what is read from there is what was put there.

`cache/<digest>/` holds the download, `members/`, and `contents.json` with the size and sha256 of each of these files as
they were put there. Before a file is read, it is held against that: by its size, times and inode, which cost nothing,
and where those differ by its sha256. So damage is found before it is data, and each file is hashed once.
"""

import fnmatch
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.data.extraction import NESTED, Content, extract
from reprlab.registry.dataset_entries import ArchiveFile
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import describe_os_error
from reprlab.runtime.log import get_logger

_BLOCK = 2**20
_NEVER = "it was not unpacked"


class CachedFile:
    """A file of the registry in the cache.

    Args:
        held: what the file was at first sight, for one of which the registry knows no digest.
    """

    def __init__(self, cache: Path, file: ArchiveFile, held: Content | None = None) -> None:
        self.file = file
        self.folder = cache / file.digest
        self.path = self.folder / file.stored
        self._members = self.folder / "members"
        self._contents = self.folder / "contents.json"
        self._known = self._read()
        self._held = held
        self._lock: Any = None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock of this file, and see what others did before; other processes wait.

        Raises:
            ReprlabError: the cache cannot be written.
        """
        import filelock

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = self._lock or filelock.FileLock(self.folder / ".lock")
            self._lock.acquire()
        except OSError as error:
            raise describe_os_error(error, self.folder) from error
        try:
            self._known = self._read()
            yield
        finally:
            self._lock.release()

    @property
    def content(self) -> Content | None:
        """What the download must hold: by the registry, else as it was at first sight; None before that."""
        if self.file.sha256 is not None and self.file.bytes is not None:
            return Content(self.file.bytes, self.file.sha256)
        if self._held is None and (entry := self._known["download"]):
            return Content(entry["bytes"], entry["sha256"])
        return self._held

    def problem(self) -> str:
        """What is wrong with the download; empty if it is what it was. It is missing if it was never there."""
        expected, entry = self.content, self._known["download"]
        if not self.path.is_file():
            return "it is missing"
        if expected and entry and asdict(expected) == {"bytes": entry["bytes"], "sha256": entry["sha256"]}:
            return self._changed(self.path)
        problem = self.difference(self.path)
        if not problem:
            self.accept()
        return problem

    def difference(self, path: Path) -> str:
        """What makes the file at `path`, wherever it is, another than this one; empty if nothing does."""
        size, expected = path.stat().st_size, self.content
        wanted = expected.bytes if expected else self.file.bytes
        if wanted is not None and size != wanted:
            return f"it has {size} bytes instead of {wanted}"
        if expected is not None:
            digest = sha256_of(path)
            return "" if digest == expected.sha256 else f"its sha256 is {digest} instead of {expected.sha256}"
        if self.file.md5 is not None and (digest := md5_of(path)) != self.file.md5:
            return f"its md5 is {digest} instead of {self.file.md5}"
        if self.file.git_blob is not None and (digest := git_blob_of(path)) != self.file.git_blob:
            return f"its git digest is {digest} instead of {self.file.git_blob}"
        return ""

    def accept(self) -> None:
        """Note the download as it is now: it was held against its digest, or is seen for the first time."""
        entry = {"bytes": self.path.stat().st_size, "sha256": sha256_of(self.path), "stamp": _stamp(self.path)}
        with self._noting():
            self._known["download"] = entry

    def members(self, pattern: str) -> list[Path]:
        """The unpacked members that match `pattern`, sorted by path; `ensure` makes them whole."""
        return [self._members / name for name in sorted(_matching(self._known["members"], pattern))]

    def lacks(self, patterns: list[str]) -> bool:
        """Whether a member is missing or is not what it was."""
        return any(self._lacks(pattern) for pattern in patterns)

    def ensure(self, patterns: list[str], limit: int) -> None:
        """Unpack the members that were not, or are not what they were.

        Raises:
            ReprlabError: the archive is refused, or holds no such member.
        """
        if not self.lacks(patterns):
            return  # without the lock: a cache in which all is there may be read-only
        with self.lock():
            wanted = []
            for pattern in patterns:
                if problem := self._lacks(pattern):
                    wanted.append(pattern)
                if problem not in ("", _NEVER):
                    get_logger().warning("%s/%s; unpacked again", self._members, problem)
            written = extract(self.path, wanted, self._members, limit) if wanted else {}
            for name, content in written.items():
                self._known["members"][name] = {**asdict(content), "stamp": _stamp(self._members / name)}
            self._known["patterns"] = sorted({*self._known["patterns"], *wanted})
            write_json(self._contents, self._known)

    def _lacks(self, pattern: str) -> str:
        found = _matching(self._known["members"], pattern)
        # A name may be there by a pattern that it matches.
        if pattern not in self._known["patterns"] and _place(pattern) not in found:
            return _NEVER
        for name in found:
            if problem := self._changed(self._members / name):
                return f"{name}: {problem}"
        return ""

    def _changed(self, path: Path) -> str:
        entry = self._entry(path)
        try:
            stamp = _stamp(path)
        except OSError:
            return "it is missing"
        if stamp == entry.get("stamp"):
            return ""
        if stamp[0] != entry.get("bytes"):
            return f"it has {stamp[0]} bytes instead of {entry.get('bytes')}"
        if sha256_of(path) != entry.get("sha256"):
            return "it has another content than when it was put there"
        with self._noting():
            self._entry(path)["stamp"] = stamp
        return ""

    def _entry(self, path: Path) -> dict[str, Any]:
        """What is noted of the download or of a member; empty if nothing is, which no file is equal to."""
        if path == self.path:
            return self._known["download"] or {}
        return self._known["members"].get(path.relative_to(self._members).as_posix(), {})

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Change what is known, and write it down; where the cache is read-only, it is known to this process alone."""
        if not os.access(self.folder, os.W_OK):
            yield
            return
        with self.lock():
            yield
            write_json(self._contents, self._known)

    def _read(self) -> dict[str, Any]:
        fresh: dict[str, Any] = {"download": None, "members": {}, "patterns": []}
        if not self._contents.exists():
            return fresh
        try:
            found = read_json(self._contents)
        except ReprlabError:
            return fresh  # cut off: all is hashed or unpacked again
        return found if isinstance(found, dict) and found.keys() == fresh.keys() else fresh


def _place(pattern: str) -> str:
    """Where a member lies below `members`."""
    return pattern.replace(NESTED, NESTED + "/")


def _matching(names: Any, pattern: str) -> list[str]:
    place = _place(pattern)
    return [place] if place in names else [name for name in names if fnmatch.fnmatchcase(name, place)]


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def sha256_of(path: Path) -> str:
    """Hexadecimal sha256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def md5_of(path: Path) -> str:
    """Hexadecimal md5 of a file, as publishers of large files give it; it tells damage, not malice."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def git_blob_of(path: Path) -> str:
    """The digest by which git knows the content of a file: sha1 over "blob <size>", a zero byte and the content."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
