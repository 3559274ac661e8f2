"""Fetched archives, opened through their receipts."""

import fnmatch
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.config.dataset_entries import ArchiveFile
from reprlab.data.extraction import NESTED, extract
from reprlab.data.members import is_container
from reprlab.runtime.errors import ReprlabError

_BLOCK = 2**20


@contextmanager
def lock(cache: Path, digest: str) -> Iterator[Path]:
    """Hold the lock of one cached file; yields its folder `cache/<digest>`. Other processes wait."""
    import filelock

    folder = cache / digest
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / ".lock"):
        yield folder


def member_path(folder: Path, name: str) -> Path:
    """Where the member `name` of the archive cached in `folder` is unpacked."""
    return folder / "members" / name.replace(NESTED, NESTED + "/")


@dataclass(frozen=True)
class Archive:
    """A fetched archive, opened through its receipt."""

    name: str
    licence: str
    cache: Path
    files: tuple[ArchiveFile, ...]
    member_limit: int

    @classmethod
    def open(cls, cache: Path, receipt: Path) -> "Archive":
        """Open the archive that `receipt` describes in `cache`.

        Raises:
            ReprlabError: the receipt is missing or broken.
        """
        facts = read_json(receipt)
        try:
            files = tuple(ArchiveFile.model_validate(file) for file in facts["files"])
            return cls(facts["archive"], facts["licence"], cache, files, facts["member_limit"])
        except (KeyError, TypeError, ValueError):
            raise ReprlabError(f"{receipt}: not a receipt of a download; delete it and run again") from None

    def file(self, name: str | None = None) -> Path:
        """The downloaded file itself: the only one, or the one called `name` in the registry.

        Raises:
            ReprlabError: the archive has no such file, or it was deleted from the cache.
        """
        found = [file for file in self.files if name is None or file.file == name]
        if len(found) != 1:
            raise ReprlabError(f"{self.name}: has no file {name!r}; correct the data registry")
        path = self.cache / found[0].digest / Path(found[0].file).name
        if not path.exists():
            raise ReprlabError(
                f"{path}: the download of {self.name} was deleted from the cache; delete its receipt and run the same "
                "command again"
            )
        return path

    def has_file(self, name: str) -> bool:
        """Whether the registry declares the file `name` for this archive."""
        return any(file.file == name for file in self.files)

    def member(self, name: str) -> Path:
        """The unpacked member `name` (`outer!inner` for an archive in the archive), unpacked now if it was not.

        Raises:
            ReprlabError: there is no such member, or it was refused.
        """
        # A name may come from the data itself (a list of files in the archive).
        if name.startswith("/") or ".." in name.split("/") or "\x00" in name:
            raise ReprlabError(f"{self.name}: {name!r} is no path inside the archive; its data is wrong")
        return self._unpacked(name, lambda folder: member_path(folder, name).exists())

    def members(self, pattern: str) -> list[Path]:
        """The unpacked members that match `pattern` (`*` matches any text), sorted by path."""
        self._unpacked(pattern, lambda folder: pattern in _listed(folder) and bool(self._matching(folder, pattern)))
        return self._matching(self.cache / self.files[0].digest, pattern)

    def _matching(self, folder: Path, pattern: str) -> list[Path]:
        root = folder / "members"
        files = (path for path in root.rglob("*") if path.is_file())
        return sorted(path for path in files if fnmatch.fnmatchcase(path.relative_to(root).as_posix(), pattern))

    def _unpacked(self, pattern: str, present: Callable[[Path], bool]) -> Path:
        file = self.files[0]
        folder = self.cache / file.digest
        if not present(folder):
            archive = self.file(file.file)
            if not is_container(archive):
                if pattern == file.file:
                    # A plain file is its own and only member.
                    return archive
                raise ReprlabError(f"{archive}: is not an archive, so it has no member {pattern!r}")
            with lock(self.cache, file.digest):
                if not present(folder):
                    extract(archive, [pattern], folder / "members", self.member_limit)
                    write_json(folder / "members.json", sorted({*_listed(folder), pattern}))
        return member_path(folder, pattern)


def _listed(folder: Path) -> list[str]:
    marker = folder / "members.json"
    return list(read_json(marker)) if marker.exists() else []
