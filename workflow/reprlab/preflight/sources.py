"""Checks of downloads: does an origin deliver each archive, and does a first row of each data set pass its schema?"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from reprlab.data.archives import Archive
from reprlab.data.downloads import at_commit, listed_files
from reprlab.data.origins.errors import OriginError
from reprlab.data.schema import check_row
from reprlab.data.sources import Sources
from reprlab.planning.plan import Plan
from reprlab.plugins import load_plugin
from reprlab.preflight.findings import Finding
from reprlab.preflight.probes import probe
from reprlab.registry.dataset_entries import (
    ArchiveEntry,
    ArchiveFile,
    CorpusEntry,
    TaskEntry,
    Wanted,
    reader_settings,
)
from reprlab.runtime.errors import ReprlabError

_AT_ONCE = 8


def check_origins(entries: list[ArchiveEntry], cache: Path) -> tuple[list[Finding], dict[str, int]]:
    """One finding for each archive, and the bytes that are still to download where they are known."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(lambda entry: _origin(entry, cache), entries))
    return [finding for finding, _ in found], {
        entry.name: size for entry, (_, size) in zip(entries, found, strict=True) if size
    }


def _origin(entry: ArchiveEntry, cache: Path) -> tuple[Finding, int]:
    missing = [file for file in entry.files if not cached(file, cache)]
    licence = f"licence: {entry.licence}" + (f"; entered unseen: {entry.unverified}" if entry.unverified else "")
    if not missing:
        return Finding("origin", entry.name, "ok", f"in the cache; {licence}"), 0
    reasons = []
    for origin in entry.origins:
        try:
            # The files of one archive lie together: the first and the last stand for all.
            answers = [probe(origin, file) for file in dict.fromkeys((missing[0], missing[-1]))]
        except OriginError as error:
            reasons.append(f"{origin}: {error}")
            continue
        known = [size for _, size in answers if size]
        sizes = [file.bytes or (max(known) if known else 0) for file in missing]
        asked = f", {len(answers)} of {len(missing)} files asked for" if len(missing) > len(answers) else ""
        return Finding("origin", entry.name, "ok", f"{origin} by {answers[0][0]}{asked}; {licence}"), sum(sizes)
    return (
        Finding("origin", entry.name, "problem", f"no origin delivers it: {'; '.join(reasons)}; {licence}"),
        sum(file.bytes or 0 for file in missing),
    )


def cached(file: ArchiveFile, cache: Path) -> bool:
    """Whether the download is there, with its size where that is known."""
    file = at_commit(file, cache, ask=False)
    path = cache / file.digest / file.stored
    return path.is_file() and (file.bytes is None or path.stat().st_size == file.bytes)


def check_rows(plan: Plan, entries: dict[str, ArchiveEntry], cache: Path) -> Iterator[Finding]:
    """The first row of each data set whose files are in the cache."""
    planned: list[tuple[type[Any], str, Any]] = [
        (model, name, job)
        for stage, model in (("build_documents", CorpusEntry), ("build_examples", TaskEntry))
        for name, job in plan.jobs.get(stage, {}).items()
    ]
    for model, name, job in planned:
        entry = model.model_validate_json(job.settings["entry"])
        yield _first_row(entry, name, [entries[archive] for archive in entry.archives], cache)


def _first_row(entry: Any, name: str, archives: list[ArchiveEntry], cache: Path) -> Finding:
    if not entry.archives:
        return Finding("data", name, "note", "is made from other data of the run, so no row was read")
    absent = [archive.name for archive in archives if not all(cached(file, cache) for file in archive.files)]
    if absent:
        return Finding("data", name, "note", f"{', '.join(absent)} not downloaded yet, so no row was read")
    kind, labels = ("documents", []) if isinstance(entry, CorpusEntry) else (entry.kind, entry.labels)
    try:
        opened = {archive.name: _open(archive, cache) for archive in archives}
        reader = load_plugin("data.readers", entry.reader)
        row = next(iter(reader.read(Sources(opened, []), reader_settings(entry), entry.splits)), None)
        if row is None:
            return Finding("data", name, "problem", "has no row; check the options of its reader in datasets.yaml")
        defaults = {"split": "train", **({"subset": ""} if kind in ("single", "pair") else {})}
        check_row({**defaults, **row}, kind, labels, f"{name}: first row")
    except ReprlabError as error:
        return Finding("data", name, "problem", str(error))
    return Finding("data", name, "ok", f"its first row is a row of kind {kind}")


def _open(entry: ArchiveEntry, cache: Path) -> Archive:
    files = tuple(at_commit(file, cache, ask=False) for file in (*entry.files, *listed_files(entry, cache)))
    return Archive(entry.name, cache, files, entry.member_limit)


def planned_archives(plan: Plan, registry: Any) -> list[ArchiveEntry]:
    """Registry entries of the downloads of a plan."""
    wanted = {name: setting(job, "wanted") for name, job in plan.jobs.get("fetch_archive", {}).items()}
    found = [Wanted.model_validate(part).of(registry.archives[name]) for name, part in wanted.items()]
    # What was entered unseen fails most likely: it is asked and told first.
    return sorted(found, key=lambda entry: not entry.unverified)


def setting(job: Any, name: str) -> Any:
    """A planned setting, read back from the text of its option."""
    value = job.settings[name]
    return json.loads(value) if isinstance(value, str) and value[:1] in "{[" else value
