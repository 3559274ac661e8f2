"""Filling the download cache: fetch from the origins, verify, unpack, write the receipt."""

import hashlib
import shutil
from pathlib import Path

from pydantic import ValidationError

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.config.dataset_entries import ArchiveEntry, ArchiveFile
from reprlab.data import origins
from reprlab.data.archives import lock, member_path
from reprlab.data.extraction import extract
from reprlab.data.origins.errors import OriginError
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger

_BLOCK = 2**20


def sha256_of(path: Path) -> str:
    """Hexadecimal sha256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def git_blob_of(path: Path) -> str:
    """The digest by which git knows the content of a file: sha1 over "blob <size>", a zero byte and the content."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def obtain(entry: ArchiveEntry, file: ArchiveFile, cache: Path) -> Path:
    """Path of the verified `file` in `cache`, fetched from the origins of `entry` in order if it is not there.

    Raises:
        ReprlabError: no origin delivered it; lists each origin and its reason.
    """
    with lock(cache, file.digest) as folder:
        target = folder / Path(file.file).name
        if target.exists():
            problem = _difference(target, file)
            if not problem:
                return target
            get_logger().warning("%s: %s; deleted and fetched again", target, problem)
            target.unlink()
        reasons = []
        for origin in entry.origins:
            try:
                _fetch(origin, file, target)
                get_logger().info("%s: %s from %s", entry.name, file.file, origin)
                return target
            except OriginError as error:
                get_logger().warning("%s: %s: %s", entry.name, origin, error)
                reasons.append(f"{origin}: {error}")
    raise ReprlabError(f"{entry.name}: {file.file} could not be fetched: {'; '.join(reasons)}")


def _fetch(origin: str, file: ArchiveFile, target: Path) -> None:
    incoming = target.parent / "incoming"
    incoming.mkdir(exist_ok=True)
    try:
        arrived = origins.fetch(origin, file, incoming)
        problem = _difference(arrived, file)
        if problem:
            raise OriginError(f"{problem}; refused and deleted")
        arrived.replace(target)
    except OriginError:
        _keep_partial(incoming)
        raise
    shutil.rmtree(incoming, ignore_errors=True)


def _keep_partial(incoming: Path) -> None:
    """Delete what an origin left, but for partial downloads that can be resumed."""
    for path in incoming.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix != ".partial":
            path.unlink()


def _difference(path: Path, file: ArchiveFile) -> str:
    size = path.stat().st_size
    if file.bytes is not None and size != file.bytes:
        return f"it has {size} bytes instead of {file.bytes}"
    if file.revision is not None:
        return ""
    kind, digest = ("sha256", sha256_of(path)) if file.sha256 else ("git digest", git_blob_of(path))
    return "" if digest == file.digest else f"its {kind} is {digest} instead of {file.digest}"


def unpack(entry: ArchiveEntry, file: ArchiveFile, cache: Path) -> None:
    """Write the members that `entry` lists to `cache/<sha256>/members`, in one pass over the archive."""
    with lock(cache, file.digest) as folder:
        marker = folder / "members.json"
        # The list is kept, so that a registry that lists more members unpacks again and an equal one does not.
        if marker.exists() and set(entry.members) <= set(read_json(marker)) and _all_present(folder, entry.members):
            return
        extract(folder / Path(file.file).name, entry.members, folder / "members", entry.member_limit)
        write_json(marker, sorted(entry.members))


def _all_present(folder: Path, members: list[str]) -> bool:
    return all("*" in name or member_path(folder, name).exists() for name in members)


def listed_files(entry: ArchiveEntry, cache: Path) -> list[ArchiveFile]:
    """The further files that the fetched lists of `entry` name, pinned by the same revision."""
    files: dict[str, ArchiveFile] = {}
    for file in entry.files if entry.listed else []:
        path = cache / file.digest / Path(file.file).name
        for name in path.read_text(encoding="utf-8").split():
            try:
                further = ArchiveFile(file=str(entry.listed).replace("{}", name), revision=file.revision)
            except ValidationError as error:
                raise ReprlabError(f"{path}: lists {name[:80]!r}: {error.errors()[0]['msg']}") from None
            files[further.file] = further
    return list(files.values())


def write_receipt(entry: ArchiveEntry, files: list[ArchiveFile], receipt: Path) -> None:
    """Record what was fetched: only facts of content, so that the same data gives the same receipt everywhere."""
    write_json(
        receipt,
        {
            "archive": entry.name,
            "version": entry.version,
            "licence": entry.licence,
            "member_limit": entry.member_limit,
            "files": [file.model_dump(exclude_none=True) for file in files],
        },
    )
