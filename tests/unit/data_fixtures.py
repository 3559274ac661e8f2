"""Hand-made archives and registry entries for the tests of the data layer."""

import gzip
import hashlib
import io
import lzma
import tarfile
import warnings
import zipfile
from pathlib import Path

from reprlab.data.archives import Archive
from reprlab.data.cache import CachedFile
from reprlab.data.downloads import write_receipt
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import ArchiveEntry, ArchiveFile, CorpusEntry, SplitSettings, TaskEntry

Members = dict[str, bytes | tarfile.TarInfo] | list[tuple[str, bytes | tarfile.TarInfo]]


def _pairs(members: Members) -> list[tuple[str, bytes | tarfile.TarInfo]]:
    return list(members.items()) if isinstance(members, dict) else members


def make_zip(path: Path, members: Members) -> Path:
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that occur twice
        for name, content in _pairs(members):
            archive.writestr(name, content)
    return path


def tar_bytes(members: Members) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in _pairs(members):
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def make_tgz(path: Path, members: Members) -> Path:
    path.write_bytes(gzip.compress(tar_bytes(members)))
    return path


def make_deb(path: Path, members: Members, data_name: str = "data.tar.xz") -> Path:
    parts = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": lzma.compress(tar_bytes({}) + b"x")[:-1],
        data_name: lzma.compress(tar_bytes(members)),
    }
    content = b"!<arch>\n"
    for name, body in parts.items():
        content += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(body):<10}`\n".encode() + body + b"\n" * (len(body) % 2)
        )
    path.write_bytes(content)
    return path


def link(name: str, kind: bytes = tarfile.SYMTYPE, target: str = "/etc/passwd") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def entry_for(path: Path, members: list[str], origins: list[str] | None = None, **changes: object) -> ArchiveEntry:
    content = path.read_bytes()
    file = ArchiveFile(file=path.name, sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
    settings = {
        "name": "sample", "version": "1", "origins": origins or [f"local:{path}"], "files": [file], "members": members,
        "licence": "CC0", "homepage": "none", "purpose": "test",
    }  # fmt: skip
    return ArchiveEntry.model_validate({**settings, **changes})


def opened(path: Path, cache: Path) -> Archive:
    """An archive that was put into the cache by hand."""
    entry = entry_for(path, [])
    folder = cache / entry.files[0].digest
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_bytes(path.read_bytes())
    write_receipt(entry, [CachedFile(cache, file) for file in entry.files], cache / f"{path.name}.json")
    return Archive.open(cache, cache / f"{path.name}.json")


def sources_of(path: Path, cache: Path) -> Sources:
    return Sources({"sample": opened(path, cache)})


def file_set(files: dict[str, bytes], cache: Path) -> Sources:
    """Sources of an archive that is a set of files, as a repository is."""
    entries = []
    for name, content in files.items():
        file = ArchiveFile(file=name, sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
        folder = cache / file.digest
        folder.mkdir(parents=True, exist_ok=True)
        (folder / Path(name).name).write_bytes(content)
        entries.append(file)
    return Sources({"sample": Archive("sample", cache, tuple(entries), 2**20)})


def task(**changes: object) -> TaskEntry:
    settings = {
        "name": "toy", "title": "Toy", "revision": "1", "reader": "hutto_ratings", "archives": ["sample"],
        "options": {"member": "ratings.txt"}, "kind": "single", "role": "sst2", "labels": ["negative", "positive"],
        "splits": SplitSettings(), "licence": "CC0", "homepage": "none", "purpose": "test",
    }  # fmt: skip
    return TaskEntry.model_validate({**settings, **changes})


def corpus(**changes: object) -> CorpusEntry:
    settings = {
        "name": "toy", "title": "Toy", "revision": "1", "reader": "text_lines", "archives": ["sample"],
        "options": {"members": ["lines.txt"]}, "licence": "CC0", "homepage": "none", "purpose": "test",
    }  # fmt: skip
    return CorpusEntry.model_validate({**settings, **changes})
