"""Filling the download cache: fetch from the origins, verify, write the receipt."""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reprlab.artifacts.json_files import write_json
from reprlab.data import origins
from reprlab.data.cache import CachedFile
from reprlab.data.origins.errors import OriginError
from reprlab.data.origins.hub import FOLDER as HUB_FOLDER
from reprlab.hub.commits import commit_of, known_commit
from reprlab.registry.dataset_entries import ArchiveEntry, ArchiveFile
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import describe_os_error
from reprlab.runtime.log import get_logger


def obtain(entry: ArchiveEntry, file: ArchiveFile, cache: Path) -> CachedFile:
    """The verified `file` in `cache`, fetched from the origins of `entry` in order if it is not there.

    Raises:
        ReprlabError: no origin delivered it; lists each origin and its reason.
    """
    file = at_commit(file, cache)
    cached = CachedFile(cache, file)
    if not cached.problem():
        return cached  # without the lock: a cache in which all is there may be read-only
    try:
        with cached.lock():
            problem = cached.problem()
            if problem and cached.path.exists():
                get_logger().warning("%s: %s; deleted and fetched again", cached.path, problem)
                cached.path.unlink()
            return _fetched(entry, cached) if problem else cached
    except OSError as error:
        raise describe_os_error(error, cached.folder) from error


def at_commit(file: ArchiveFile, cache: Path, *, ask: bool = True) -> ArchiveFile:
    """The file at the commit at which its branch is taken in this cache; the same where it names no branch.

    With `ask`, the hub is asked about a branch that was not fetched before; where it does not answer, the file is the
    same too: another origin may have it.
    """
    if file.branch is None:
        return file
    repository, branch = file.branch
    try:
        known = commit_of if ask else known_commit
        commit = known(cache, repository, branch, "dataset")
    except ReprlabError as error:
        get_logger().warning("%s", error)
        return file
    return file.at(commit) if commit else file


def _fetched(entry: ArchiveEntry, cached: CachedFile) -> CachedFile:
    reasons = []
    listed = {file.file for file in entry.files}
    for origin in entry.origins:
        try:
            if further := origins.unlisted(origin, cached.file, listed):
                raise OriginError(
                    f"the split goes on with {further}, which the entry does not list; list it among `files` of the "
                    "archive and of what reads it"
                )
            _fetch(origin, cached)
            get_logger().info("%s: %s from %s", entry.name, cached.file.file, origin)
            return cached
        except OriginError as error:
            get_logger().warning("%s: %s: %s", entry.name, origin, error)
            reasons.append(f"{origin}: {error}")
    raise ReprlabError(f"{entry.name}: {cached.file.file} could not be fetched: {'; '.join(reasons)}")


def _fetch(origin: str, cached: CachedFile) -> None:
    incoming = cached.folder / "incoming"
    incoming.mkdir(exist_ok=True)
    _keep_partial(incoming)  # of one that was killed
    try:
        arrived = origins.fetch(origin, cached.file, incoming)
        if problem := cached.difference(arrived):
            raise OriginError(f"{problem}; refused and deleted")
        arrived.replace(cached.path)
        cached.accept()
    except OriginError:
        _keep_partial(incoming)
        raise
    shutil.rmtree(incoming, ignore_errors=True)


def _keep_partial(incoming: Path) -> None:
    """Delete what an origin left, but for partial downloads that can be resumed."""
    for path in incoming.iterdir():
        if path.name == HUB_FOLDER:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix != ".partial":
            path.unlink()


def listed_files(entry: ArchiveEntry, cache: Path) -> list[ArchiveFile]:
    """The further files that the fetched lists of `entry` name, pinned by the same revision."""
    files: dict[str, ArchiveFile] = {}
    for file in entry.files if entry.listed else []:
        path = CachedFile(cache, at_commit(file, cache, ask=False)).path
        for name in path.read_text(encoding="utf-8").split():
            try:
                further = ArchiveFile(file=str(entry.listed).replace("{}", name), revision=file.revision)
            except ValidationError as error:
                raise ReprlabError(f"{path}: lists {name[:80]!r}: {error.errors()[0]['msg']}") from None
            files[further.file] = further
    return list(files.values())


def write_receipt(entry: ArchiveEntry, files: list[CachedFile], receipt: Path) -> None:
    """Record what was fetched: only facts of content, so that the same data gives the same receipt everywhere.

    A file of which the registry has no digest is listed there as it was at first sight (`received`), which is held
    against it from then on.
    """
    write_json(
        receipt,
        {
            "archive": entry.name,
            "version": entry.version,
            "members": entry.members,
            "member_limit": entry.member_limit,
            "files": [_facts(cached) for cached in files],
        },
    )


def _facts(cached: CachedFile) -> dict[str, Any]:
    facts = cached.file.model_dump(exclude_none=True)
    if cached.file.sha256 is None and cached.content is not None:
        facts["received"] = asdict(cached.content)
    return facts
