"""The members of zip, tar, deb and npm archives, in one pass, with bounded memory."""

import bz2
import functools
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from reprlab.runtime.errors import ReprlabError

ZIP_SUFFIXES = (".whl", ".zip")
DEB_SUFFIX = ".deb"
_DECOMPRESS: dict[str, Callable[[Any], Any]] = {
    ".tar.gz": lambda raw: gzip.GzipFile(fileobj=raw),
    ".tgz": lambda raw: gzip.GzipFile(fileobj=raw),
    ".tar.bz2": bz2.BZ2File,
    ".tar.xz": lzma.LZMAFile,
    ".tar": lambda raw: raw,
}
_BLOCK = 2**20
# Long names and a few attributes take less. tarfile reads such a header whole, and searches it in quadratic time.
_LARGEST_HEADER = 32 * 2**10
# Text is seldom smaller than a fiftieth of itself; a bomb is a thousandth or less.
_LARGEST_RATIO, _FREE_BYTES = 200, 64 * 2**20


@dataclass(frozen=True)
class Member:
    """A member as the archive declares it; nothing of it need be true."""

    name: str
    """Path in the archive."""
    size: int = 0
    """Bytes, unpacked."""
    problem: str = ""
    """What it is instead of a file ("a link")."""
    open: Callable[[], AbstractContextManager[IO[bytes]]] | None = None
    """Its content, readable until the next member is asked for; None for folders."""


def is_container(path: Path | str) -> bool:
    """Whether the name is that of an archive whose members can be read."""
    return str(path).endswith((*ZIP_SUFFIXES, *_DECOMPRESS, DEB_SUFFIX))


def members_of(archive: Path) -> Iterator[Member]:
    """The members in the order of the archive.

    Raises:
        ReprlabError: not an archive of a known kind, or one that would take the machine down.
    """
    name = archive.name
    if name.endswith(ZIP_SUFFIXES):
        yield from _zip_members(archive)
    elif name.endswith(DEB_SUFFIX):
        yield from _deb_members(archive)
    else:
        suffix = next((suffix for suffix in _DECOMPRESS if name.endswith(suffix)), None)
        if suffix is None:
            raise ReprlabError(f"{archive}: not an archive of a known kind (zip, wheel, tar, deb)")
        with archive.open("rb") as handle:
            yield from _tar_members(archive, handle, suffix)


def _zip_members(archive: Path) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir():
                yield Member(info.filename)
            elif kind not in (0, stat.S_IFREG):
                yield Member(info.filename, problem="a link" if kind == stat.S_IFLNK else "a device")
            elif info.flag_bits & 1:
                yield Member(info.filename, problem="encrypted")
            else:
                yield Member(info.filename, info.file_size, open=functools.partial(_open_in_zip, opened, info))


def _open_in_zip(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    try:
        return opened.open(info)
    except NotImplementedError:
        kind = zipfile.compressor_names.get(info.compress_type, f"method {info.compress_type}")  # type: ignore[attr-defined]
        raise NotImplementedError(f"{info.filename!r} is compressed by {kind}") from None


def _tar_members(archive: Path, handle: Any, suffix: str) -> Iterator[Member]:
    most = _LARGEST_RATIO * archive.stat().st_size + _FREE_BYTES
    stream = _TarStream(archive, _DECOMPRESS[suffix](handle), most)
    with tarfile.open(fileobj=stream, mode="r:") as opened:  # type: ignore[call-overload]
        while (info := opened.next()) is not None:
            opened.members.clear()  # tarfile keeps all of them, and an archive may have millions
            if sum(map(len, opened.pax_headers.values())) > _LARGEST_HEADER:
                raise stream.too_large()
            if info.isdir():
                yield Member(info.name)
            elif info.issym() or info.islnk():
                yield Member(info.name, problem="a link")
            elif not info.isreg() or info.issparse():
                yield Member(info.name, problem="a device" if not info.isreg() else "a file with holes")
            else:
                stream.in_header = False
                yield Member(info.name, info.size, open=functools.partial(_content, opened, info))
            stream.in_header, stream.header = True, 0


def _content(opened: tarfile.TarFile, info: tarfile.TarInfo) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(opened.extractfile(info))  # type: ignore[arg-type]


class _TarStream:
    """An unpacked tar as tarfile reads it, forward only, with bounds on its size and on that of each header."""

    def __init__(self, archive: Path, stream: Any, most: int) -> None:
        self._archive, self._stream, self._most = archive, stream, most
        self._at = self.header = 0
        self.in_header = True

    def too_large(self) -> ReprlabError:
        return ReprlabError(f"{self._archive}: a header of more than {_LARGEST_HEADER} bytes; the archive was refused")

    def read(self, size: int) -> bytes:
        if self.in_header:
            self.header += size
            if self.header > _LARGEST_HEADER:
                raise self.too_large()
        block: bytes = self._stream.read(size)
        self._at += len(block)
        if self._at > self._most:
            raise ReprlabError(f"{self._archive}: unpacks to more than {_LARGEST_RATIO} times its size; it was refused")
        return block

    def tell(self) -> int:
        return self._at

    def seek(self, place: int) -> None:
        if place < self._at:
            raise io.UnsupportedOperation("a tar is read forward")
        header, self.in_header = self.in_header, False
        while self._at < place and self.read(min(_BLOCK, place - self._at)):
            pass
        self.in_header = header


def _deb_members(archive: Path) -> Iterator[Member]:
    with archive.open("rb") as handle:
        name, start, size = _deb_data(archive, handle)
        if name.endswith(".zst"):
            raise ReprlabError(f"{archive}: {name} is compressed with zstd, which this Python cannot read; unpack it "
                               "with `dpkg-deb --fsys-tarfile` and give the tar as a local: origin")  # fmt: skip
        suffix = name.removeprefix("data")
        if suffix not in _DECOMPRESS:
            raise ReprlabError(f"{archive}: {name} has an unknown compression")
        handle.seek(start)
        yield from _tar_members(archive, _Slice(handle, size), suffix)


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
