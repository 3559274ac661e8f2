"""Seals: what each result was when it was made.

The engine looks at dates alone: a file that a power cut left truncated, or that was edited by hand, is finished to it.
So every file and folder that a stage puts into place below `results/` gets a seal with its size, time and sha256, and
before a run the seals are held against the disk.
"""

import contextlib
import glob
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = "results"
_FOLDER = ".seals"
# Not results: resume points have digests of their own, logs and timings may be cut off.
_UNSEALED = {"work", "logs", "benchmarks"}
# Written by the engine into the folders that a job makes.
_ENGINE_FILE = ".snakemake_timestamp"
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Signature:
    """The job that made a result, and the plan that it was a part of."""

    job: str
    plan: str


_signature = Signature("", "")


def sign_results(job: str, plan: str) -> None:
    """From here on the seals of this process name the job, by its digest, and the plan, by its file."""
    global _signature
    _signature = Signature(job, plan)


def signature_of(path: Path, run_folder: Path) -> Signature | None:
    """Who made a result, `path` being relative to the run's folder; None where no seal says so."""
    try:
        record = json.loads((run_folder / _seal_path(path)).read_text(encoding="utf-8"))
        return Signature(record["job"], record["plan"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def plans_of_results(run_folder: Path) -> set[str]:
    """The plans, by the names of their files, that the results of a run were made by."""
    seals = run_folder / RESULTS / _FOLDER
    results = (Path(RESULTS) / seal.relative_to(seals).with_suffix("") for seal in seals.rglob("*.json"))
    found = (signature_of(path, run_folder) for path in results if (run_folder / path).exists())
    return {signature.plan for signature in found if signature}


@dataclass(frozen=True)
class Changed:
    """A result that is not what it was when it was made. `aside` is where it was kept, None while it was only found."""

    path: Path
    aside: Path | None = None

    def __str__(self) -> str:
        if self.aside is None:
            return f"{self.path}: changed since it was made; a run keeps it under another name and makes it again"
        return f"{self.path}: changed since it was made (edited or cut off); kept as {self.aside}, and made again"


def break_seal(path: Path) -> None:
    """Take the seal off what is about to be replaced, so that a kill in between leaves no wrong seal.

    What a killed writer left of a seal goes, too: locks, the engine's or the cache's, allow one writer.
    """
    seal = _seal_of(path)
    if seal is not None:
        for unfinished in seal.parent.glob(f".{glob.escape(seal.name)}.*.part"):
            unfinished.unlink(missing_ok=True)
        seal.unlink(missing_ok=True)


def put_seal(path: Path) -> None:
    """Seal the finished file or folder `path`; what does not lie below `results/` of the working folder has no seal."""
    seal = _seal_of(path)
    if seal is not None:
        _write(seal, path)


def changed_results(run_folder: Path, *, thorough: bool = False) -> Iterator[Path]:
    """The sealed results of a run that are not what they were, relative to its folder.

    Size and time tell most of them apart from the sealed ones without reading; `thorough` reads all of them.
    """
    seals = run_folder / RESULTS / _FOLDER
    for seal in sorted(seals.rglob("*.json")):
        path = Path(RESULTS) / seal.relative_to(seals).with_suffix("")
        if (run_folder / path).exists() and not _holds(seal, run_folder / path, thorough):
            yield path


def set_changed_aside(run_folder: Path, *, dry: bool = False) -> list[Changed]:
    """Move results that are not what they were to another name, so that the engine makes them again.

    Nothing is done (nor found) while an engine holds the lock of the run, for it may be writing them. `dry` only finds.
    """
    if is_in_use(run_folder):
        return []
    found = []
    for path in list(changed_results(run_folder)):
        if dry:
            found.append(Changed(path))
            continue
        aside = _free_name(run_folder, path)
        os.replace(run_folder / path, run_folder / aside)
        (run_folder / _seal_path(path)).unlink()
        found.append(Changed(path, aside))
    return found


def is_in_use(run_folder: Path) -> bool:
    """Whether an engine holds the lock of the run."""
    return any((run_folder / ".snakemake/locks").glob("*.lock"))


def _seal_of(path: Path) -> Path | None:
    """Where the seal of `path` lies, relative to the working folder; None for what has none."""
    parts = path.parts
    hidden = any(part.startswith(".") for part in parts)
    if path.is_absolute() or hidden or len(parts) < 2 or parts[0] != RESULTS or parts[1] in _UNSEALED:
        return None
    return _seal_path(path)


def _seal_path(path: Path) -> Path:
    inside = path.relative_to(RESULTS)
    return Path(RESULTS) / _FOLDER / inside.with_name(inside.name + ".json")


def _write(seal: Path, path: Path) -> None:
    made = {"job": _signature.job, "plan": _signature.plan, "made": time.time_ns()}
    _write_record(seal, {"stamp": _stamp(path), "sha256": content_digest(path), **made})


def _write_record(seal: Path, record: Mapping[str, Any]) -> None:
    seal.parent.mkdir(parents=True, exist_ok=True)
    # A plain atomic write: `atomic_file` seals what it writes.
    temporary = seal.with_name(f".{seal.name}.{os.getpid()}.part")
    with temporary.open("w", encoding="utf-8") as handle:
        handle.write(json.dumps(record) + "\n")
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(temporary, seal)


def _holds(seal: Path, path: Path, thorough: bool) -> bool:
    try:
        record = json.loads(seal.read_text(encoding="utf-8"))
        stamp, digest = record["stamp"], record["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if stamp == _stamp(path) and not thorough:
        return True
    if content_digest(path) != digest:
        return False
    if stamp != _stamp(path) and os.access(seal.parent, os.W_OK):
        # Copied or touched: it gets the time back at which it was made, for the engine compares times.
        _date(path, record.get("made"))
        _write_record(seal, {**record, "stamp": _stamp(path)})
    return True


def _date(path: Path, made: int | None) -> None:
    if made is None:
        return
    for file in [path, *path.rglob("*")] if path.is_dir() else [path]:
        with contextlib.suppress(OSError):
            os.utime(file, ns=(made, made), follow_symlinks=False)


def _stamp(path: Path) -> str:
    lines = []
    for file in _files(path):
        status = file.stat()
        lines.append(f"{file.relative_to(path)}\t{status.st_size}\t{status.st_mtime_ns}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def content_digest(path: Path) -> str:
    """sha256 of a file; of a folder, of the names and digests of its files."""
    if not path.is_dir():
        return _file_digest(path)
    lines = "".join(f"{file.relative_to(path)}\t{_file_digest(file)}\n" for file in _files(path))
    return hashlib.sha256(lines.encode()).hexdigest()


def _file_digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as handle:
        while block := handle.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and file.name != _ENGINE_FILE)


def _free_name(run_folder: Path, path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.changed-{number}")).exists() or (run_folder / aside).exists():
        number += 1
    return aside
