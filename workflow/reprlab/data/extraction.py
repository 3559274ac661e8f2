"""Members out of zip, tar, deb and npm archives, in one streaming pass and without trust in the archive."""

import fnmatch
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_file

ZIP_SUFFIXES = (".whl", ".zip")
TAR_MODES = {".tar.gz": "r|gz", ".tgz": "r|gz", ".tar.bz2": "r|bz2", ".tar.xz": "r|xz", ".tar": "r|"}
DEB_SUFFIX = ".deb"
NESTED = "!"
_BLOCK = 2**20
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)


def is_container(path: Path | str) -> bool:
    """Whether the name is that of an archive that `extract` opens."""
    name = str(path)
    return name.endswith((*ZIP_SUFFIXES, *TAR_MODES, DEB_SUFFIX))


def extract(archive: Path, patterns: list[str], folder: Path, limit: int) -> None:
    """Write the members of `archive` that match `patterns` to `folder`, under their own paths.

    `*` in a pattern matches any text. `outer!inner` is the member `inner` of the archive `outer` in the archive; it is
    written to `folder/outer!/inner`. The archive is read once; reading stops when every plain name was found.

    Raises:
        ReprlabError: the archive is broken; a member has an absolute path or `..`; a wanted member is a link or a
            device, is larger than `limit` bytes, or does not exist.
    """
    direct = sorted({pattern.partition(NESTED)[0] for pattern in patterns})
    try:
        _extract_level(archive, direct, folder, limit)
    except _BROKEN as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ReprlabError(f"{archive}: broken archive ({error or type(error).__name__}); delete it and run the same "
                           "command again") from None  # fmt: skip
    nested: dict[str, list[str]] = {}
    for pattern in patterns:
        outer, separator, inner = pattern.partition(NESTED)
        if separator:
            nested.setdefault(outer, []).append(inner)
    for outer, inner_patterns in nested.items():
        extract(folder / outer, inner_patterns, folder / (outer + NESTED), limit)


def _extract_level(archive: Path, patterns: list[str], folder: Path, limit: int) -> None:
    found: set[str] = set()
    plain = {pattern for pattern in patterns if "*" not in pattern}
    stop_early = len(plain) == len(patterns)
    for name, problem, stream, size in _members(archive):
        path = _checked_name(archive, name)
        matching = [pattern for pattern in patterns if pattern == path or fnmatch.fnmatchcase(path, pattern)]
        if not matching:
            continue
        if problem:
            raise ReprlabError(f"{archive}: member {name!r} is {problem}, not a file; it was refused")
        if stream is None:
            continue
        _write(archive, path, stream, size, folder, limit)
        found.update(matching)
        if stop_early and found >= plain:
            return
    missing = [pattern for pattern in patterns if pattern not in found]
    if missing:
        raise ReprlabError(
            f"{archive}: holds no member {missing[0]!r} ({len(missing)} of {len(patterns)} wanted are missing); "
            "correct `members` in the data registry"
        )


def _checked_name(archive: Path, name: str) -> str:
    path = name.removeprefix("./").rstrip("/")
    if path.startswith("/") or ".." in path.split("/") or "\\" in path or "\x00" in path:
        raise ReprlabError(f"{archive}: member {name!r} would be written outside its folder; the archive was refused")
    return path


def _write(archive: Path, path: str, stream: IO[bytes], size: int, folder: Path, limit: int) -> None:
    if size > limit:
        raise ReprlabError(f"{archive}: member {path!r} has {size} bytes, more than the limit of {limit}; raise "
                           "`member_limit` in the data registry if that is right")  # fmt: skip
    written = 0
    with atomic_file(folder / path) as temporary, temporary.open("wb") as output:
        while block := stream.read(_BLOCK):
            written += len(block)
            # The size that an archive declares need not be true.
            if written > limit:
                raise ReprlabError(f"{archive}: member {path!r} unpacks to more than the limit of {limit} bytes")
            output.write(block)


def _members(archive: Path) -> Iterator[tuple[str, str, IO[bytes] | None, int]]:
    """(name, problem, stream, size) of each member; folders have neither problem nor stream."""
    name = archive.name
    if name.endswith(ZIP_SUFFIXES):
        yield from _zip_members(archive)
    elif name.endswith(DEB_SUFFIX):
        yield from _deb_members(archive)
    else:
        mode = next((mode for suffix, mode in TAR_MODES.items() if name.endswith(suffix)), None)
        if mode is None:
            raise ReprlabError(f"{archive}: not an archive of a known kind (zip, wheel, tar, deb)")
        with archive.open("rb") as handle:
            yield from _tar_members(handle, mode)


def _zip_members(archive: Path) -> Iterator[tuple[str, str, IO[bytes] | None, int]]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir():
                yield info.filename, "", None, 0
            elif kind not in (0, stat.S_IFREG):
                yield info.filename, "a link" if kind == stat.S_IFLNK else "a device", None, 0
            elif info.flag_bits & 1:
                yield info.filename, "encrypted", None, 0
            else:
                with opened.open(info) as stream:
                    yield info.filename, "", stream, info.file_size


def _tar_members(handle: IO[bytes], mode: str) -> Iterator[tuple[str, str, IO[bytes] | None, int]]:
    with tarfile.open(fileobj=handle, mode=mode) as opened:  # type: ignore[call-overload]
        for info in opened:
            if info.isdir():
                yield info.name, "", None, 0
            elif info.issym() or info.islnk():
                yield info.name, "a link", None, 0
            elif not info.isreg():
                yield info.name, "a device", None, 0
            else:
                yield info.name, "", opened.extractfile(info), info.size


def _deb_members(archive: Path) -> Iterator[tuple[str, str, IO[bytes] | None, int]]:
    with archive.open("rb") as handle:
        name, start, size = _deb_data(archive, handle)
        if name.endswith(".zst"):
            raise ReprlabError(f"{archive}: {name} is compressed with zstd, which this Python cannot read; unpack it "
                               "with `dpkg-deb --fsys-tarfile` and give the tar as a local: origin")  # fmt: skip
        mode = TAR_MODES.get(name.removeprefix("data"))
        if mode is None:
            raise ReprlabError(f"{archive}: {name} has an unknown compression")
        handle.seek(start)
        yield from _tar_members(_Slice(handle, size), mode)  # type: ignore[arg-type]


def _deb_data(archive: Path, handle: IO[bytes]) -> tuple[str, int, int]:
    """Name, offset and size of the data part: a deb is an `ar` archive with 60-byte headers (deb(5))."""
    if handle.read(8) != b"!<arch>\n":
        raise ReprlabError(f"{archive}: not a Debian package; delete it and run the same command again")
    while header := handle.read(60):
        if len(header) < 60 or header[58:] != b"`\n" or not header[48:58].strip().isdigit():
            break
        name = header[:16].decode("ascii", "replace").rstrip(" /")
        size = int(header[48:58])
        if name.startswith("data.tar"):
            return name, handle.tell(), size
        handle.seek(size + size % 2, io.SEEK_CUR)
    raise ReprlabError(f"{archive}: broken Debian package (no data part); delete it and run the same command again")


class _Slice:
    """The next `size` bytes of a file, as a readable stream."""

    def __init__(self, handle: IO[bytes], size: int) -> None:
        self._handle = handle
        self._left = size

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        block = self._handle.read(wanted)
        self._left -= len(block)
        return block
