"""Seals: what each result was when it was made, by which job, and from what.

Every file and folder that a stage puts into place below `results/` gets a record in `results/.seals`: the sha256 of
its content, the digest of its job, the sha256 of each input as the job read it, and with which packages and threads.
`runtime.stale` holds the seals against the disk and the plan. A seal goes where its result goes.
"""

import glob
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

RESULTS = "results"
_FOLDER = Path(RESULTS) / ".seals"
# Not results: resume points have digests of their own, logs and timings may be cut off.
_UNSEALED = {"work", "logs", "benchmarks"}
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Making:
    """How results are made."""

    job: str = ""
    """Digest of the job; empty: a call without a plan."""
    plan: str = ""
    """File name of the plan that it is a part of."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """sha256 of each input by its path, relative to the folder of the run."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Python and packages."""
    threads: int = 0
    """Threads of torch and BLAS, which change the last digits of some stages."""


@dataclass(frozen=True)
class Seal:
    """What a result was when it was made. `stamp` tells without reading that its files are still the sealed ones."""

    sha256: str
    stamp: str
    made: Making


_making = Making()
_require_inputs: Callable[[], None] | None = None


def sign_results(making: Making, require_inputs: Callable[[], None] | None = None) -> None:
    """From here on the seals of this process say that results are made so; `require_inputs` raises where an input is
    another by now than `making` says."""
    global _making, _require_inputs
    _making, _require_inputs = making, require_inputs


def making() -> Making:
    """How this process makes results."""
    return _making


def read_seal(path: Path | str, run_folder: Path) -> Seal | None:
    """The seal of a result, `path` being relative to the run's folder; None where there is none, or a damaged one."""
    try:
        values = json.loads((run_folder / _seal_path(Path(path))).read_text(encoding="utf-8"))
        return Seal(values["sha256"], values["stamp"], Making(**values["made"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def sealed_results(run_folder: Path) -> Iterator[Path]:
    """Every result of a run that has a seal and is there, relative to its folder."""
    seals = run_folder / _FOLDER
    for seal in sorted(seals.rglob("*.json")):
        path = Path(RESULTS) / seal.relative_to(seals).with_suffix("")
        if (run_folder / path).exists():
            yield path


def sources(paths: Iterable[str], run_folder: Path) -> dict[str, Seal]:
    """The seals of results and of all that they were made from, by path."""
    found: dict[str, Seal] = {}
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path not in found and (seal := read_seal(path, run_folder)):
            found[path] = seal
            waiting += seal.made.inputs
    return found


def plans_of_results(run_folder: Path) -> set[str]:
    """The plans, by the names of their files, that the results of a run were made by."""
    found = (read_seal(path, run_folder) for path in sealed_results(run_folder))
    return {seal.made.plan for seal in found if seal}


def break_seal(path: Path) -> None:
    """Take the seal off what is about to be replaced, so that a kill in between leaves no wrong seal.

    What a killed writer left of a seal goes, too: locks, the engine's or the cache's, allow one writer.

    Raises:
        ReprlabError: an input of this process changed while it worked, so that no seal could say what was read.
    """
    if is_sealed(path):
        if _require_inputs:
            _require_inputs()
        seal = _seal_path(path)
        for unfinished in seal.parent.glob(f".{glob.escape(seal.name)}.*.part"):
            unfinished.unlink(missing_ok=True)
        seal.unlink(missing_ok=True)


def put_seal(path: Path) -> None:
    """Seal the finished file or folder `path`; what does not lie below `results/` of the working folder has no seal."""
    if is_sealed(path):
        _write(_seal_path(path), Seal(content_digest(path), stamp_of(path), _making))


def renew_stamp(path: Path, run_folder: Path, seal: Seal) -> None:
    """Note that files which were copied or touched are still the sealed ones; nothing where the seal is another now."""
    place = run_folder / _seal_path(path)
    if os.access(place.parent, os.W_OK) and read_seal(path, run_folder) == seal:
        _write(place, replace(seal, stamp=stamp_of(run_folder / path)))


def copy_seal(path: Path, run_folder: Path, other: Path) -> None:
    """Give the copy of a result in the run `other` the seal that it has in `run_folder`."""
    if seal := read_seal(path, run_folder):
        _write(other / _seal_path(path), seal)


def remove_seal(path: Path, run_folder: Path) -> None:
    """Take the seal off a result that was moved away."""
    (run_folder / _seal_path(path)).unlink(missing_ok=True)


def is_sealed(path: Path) -> bool:
    """Whether a path, relative to the working folder, is one that gets a seal."""
    parts = path.parts
    hidden = any(part.startswith(".") for part in parts)
    return not (path.is_absolute() or hidden or len(parts) < 2 or parts[0] != RESULTS or parts[1] in _UNSEALED)


def _seal_path(path: Path) -> Path:
    inside = path.relative_to(RESULTS)
    return _FOLDER / inside.with_name(inside.name + ".json")


def _write(place: Path, seal: Seal) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    # A plain atomic write: `atomic_file` seals what it writes.
    temporary = place.with_name(f".{place.name}.{os.getpid()}.part")
    with temporary.open("w", encoding="utf-8") as handle:
        handle.write(json.dumps(asdict(seal)) + "\n")
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(temporary, place)


def stamp_of(path: Path) -> str:
    """A digest of names, sizes and dates of a file, or of those of a folder. The date at which a file's content or
    name last changed is among them, which no program sets: an equal stamp means the same bytes."""
    lines = []
    for file in _files(path):
        status = file.stat()
        lines.append(f"{file.relative_to(path)}\t{status.st_size}\t{status.st_mtime_ns}\t{status.st_ctime_ns}\n")
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
    return sorted(file for file in path.rglob("*") if file.is_file())
