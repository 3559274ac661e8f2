"""Unpacking members of archives, without trust in the archive."""

import fnmatch
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reprlab.data.members import Member, members_of
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_file

NESTED = "!"
# All members that are unpacked together may have this many times the bytes of the limit of one.
_TOTAL = 8
_MOST_MEMBERS = 100_000
_BLOCK = 2**20
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, UnicodeError)


@dataclass(frozen=True)
class Content:
    """What a file holds."""

    bytes: int
    sha256: str


def extract(archive: Path, patterns: list[str], folder: Path, limit: int) -> dict[str, Content]:
    """Write the members of `archive` that match `patterns` to `folder`, under their own paths.

    `*` in a pattern matches any text. `outer!inner` is the member `inner` of the archive `outer` in the archive; it is
    written to `folder/outer!/inner`. The archive is read once; reading stops when every plain name was found. Of
    members with the same path the first counts.

    Returns:
        the files that were written, by their paths in `folder`.

    Raises:
        ReprlabError: the archive is broken; a member has an absolute path or `..`; a wanted member is a link or a
            device, is larger than `limit` bytes, is compressed in a way that Python cannot read, or does not exist;
            the members together are too large or too many.
    """
    unpacking = _Unpacking(folder, limit)
    unpacking.level(archive, patterns, "")
    return unpacking.written


class _Unpacking:
    """What was written so far, over all levels of archives in archives."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self.written: dict[str, Content] = {}
        self.left = _TOTAL * limit

    def level(self, archive: Path, patterns: list[str], below: str) -> None:
        """Write what matches to the path `below` (empty, or ending in "/")."""
        try:
            self._level(archive, sorted({pattern.partition(NESTED)[0] for pattern in patterns}), below)
        except NotImplementedError as error:
            raise ReprlabError(f"{archive}: cannot be unpacked by Python ({error}); unpack it with another program, "
                               "and give an archive of its files as a local: origin") from None  # fmt: skip
        except _BROKEN as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ReprlabError(f"{archive}: broken archive ({error or type(error).__name__}); delete it and run the "
                               "same command again") from None  # fmt: skip
        nested: dict[str, list[str]] = {}
        for pattern in patterns:
            outer, separator, inner = pattern.partition(NESTED)
            if separator:
                nested.setdefault(outer, []).append(inner)
        for outer, inner_patterns in nested.items():
            self.level(self.folder / below / outer, inner_patterns, f"{below}{outer}{NESTED}/")

    def _level(self, archive: Path, patterns: list[str], below: str) -> None:
        found: set[str] = set()
        plain = {pattern for pattern in patterns if "*" not in pattern}
        stop_early = len(plain) == len(patterns)
        for member in members_of(archive):
            path = _checked_name(archive, member.name)
            matching = [pattern for pattern in patterns if pattern == path or fnmatch.fnmatchcase(path, pattern)]
            if not matching or below + path in self.written:
                continue
            if member.problem:
                raise ReprlabError(f"{archive}: member {member.name!r} is {member.problem}, not a file; it was refused")
            if member.open is None:
                continue
            self._write(archive, path, member, below)
            found.update(matching)
            if stop_early and found >= plain:
                return
        missing = [pattern for pattern in patterns if pattern not in found]
        if missing:
            raise ReprlabError(
                f"{archive}: holds no member {missing[0]!r} ({len(missing)} of {len(patterns)} wanted are missing); "
                "correct `members` in the data registry"
            )

    def _write(self, archive: Path, path: str, member: Member, below: str) -> None:
        if member.size > self.limit:
            raise ReprlabError(f"{archive}: member {path!r} has {member.size} bytes, more than the limit of "
                               f"{self.limit}; raise `member_limit` in the data registry if that is right")  # fmt: skip
        if len(self.written) >= _MOST_MEMBERS:
            raise ReprlabError(f"{archive}: more than {_MOST_MEMBERS} members match; it was refused")
        size, digest = 0, hashlib.sha256()
        assert member.open is not None
        with (
            member.open() as stream,
            atomic_file(self.folder / below / path) as temporary,
            temporary.open("wb") as output,
        ):
            while block := stream.read(_BLOCK):
                size += len(block)
                self.left -= len(block)
                # The size that an archive declares need not be true.
                if size > self.limit:
                    raise ReprlabError(
                        f"{archive}: member {path!r} unpacks to more than the limit of {self.limit} bytes"
                    )
                if self.left < 0:
                    raise ReprlabError(
                        f"{archive}: its members unpack to more than {_TOTAL} times the limit of {self.limit} bytes; "
                        "raise `member_limit` in the data registry if that is right"
                    )
                output.write(block)
                digest.update(block)
        self.written[below + path] = Content(size, digest.hexdigest())


def _checked_name(archive: Path, name: str) -> str:
    if name.startswith("/") or ".." in name.split("/") or "\\" in name or "\x00" in name:
        raise ReprlabError(f"{archive}: member {name!r} would be written outside its folder; the archive was refused")
    # One path, one file: a//b and ./a/b are a/b.
    return PurePosixPath(name).as_posix()
