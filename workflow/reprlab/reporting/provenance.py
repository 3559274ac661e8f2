"""Provenance of a result: settings, versions, commit, machine and digests of its inputs, in a JSON file beside it."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.hub.commits import ORIGIN_FILE
from reprlab.runtime.code_digest import imported_modules, module_path
from reprlab.runtime.commit import commit
from reprlab.runtime.machine import count_gpus
from reprlab.runtime.seals import making, sources
from reprlab.runtime.versions import distributions, others, versions_of

if TYPE_CHECKING:
    import pandas

_BLOCK = 1 << 20
_RECEIPTS = "results/shared/archives/"


def write_provenance(result: Path, *, stage: str, settings: Mapping[str, Any], inputs: Sequence[Path]) -> None:
    """Write `<result>.provenance.json`, where `<result>` is the path without ending.

    The record holds no path outside the run's folder, no environment variable and no user or host name.
    """
    record = {
        "stage": stage,
        "result": result.name,
        "sha256": digest(result),
        "settings": dict(settings),
        "seeds": _seeds(result),
        "inputs": [{"path": public_path(path), "sha256": digest(path)} for path in inputs],
        "versions": versions(stage, inputs),
        "repositories": repositories(inputs),
        "made_by_other_versions": made_by_others(inputs),
        "commit": commit(),
        "machine": machine(),
    }
    write_json(provenance_path(result), record)


def provenance_path(result: Path) -> Path:
    """Where the record of a result lies."""
    return result.with_suffix(".provenance.json")


def public_path(path: Path) -> str:
    """The path relative to the run's folder, or the bare name of a file outside it."""
    return path.name if path.is_absolute() or ".." in path.parts else path.as_posix()


def digest(path: Path) -> str:
    """sha256 of a file; of a folder, that of its files' names and digests."""
    found = hashlib.sha256()
    if path.is_dir():
        for file in sorted(one for one in path.rglob("*") if one.is_file()):
            found.update(f"{file.relative_to(path).as_posix()}\0{digest(file)}\n".encode())
        return found.hexdigest()
    with path.open("rb") as handle:
        while block := handle.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def versions(stage: str, inputs: Sequence[Path]) -> dict[str, str]:
    """Python, the engine, and every distribution that a stage's modules import, or those of the stages that made its
    inputs and what these were made from, as installed. Of a script beside the package, what it has loaded of it."""
    module = f"reprlab.stages.{stage}"
    modules = (
        imported_modules(module) if module_path(module) else {one for one in sys.modules if one.startswith("reprlab.")}
    )
    own = making().versions or distributions(modules)
    names = {*own, *(name for seal in sources(map(str, inputs), Path()).values() for name in seal.made.versions)}
    return {**versions_of(sorted(names)), "snakemake": metadata.version("snakemake")}


def made_by_others(inputs: Sequence[Path]) -> dict[str, dict[str, str]]:
    """Of all that a result was made from, what was made with other versions than the installed ones: these, by path."""
    found = {path: others(seal.made.versions) for path, seal in sorted(sources(map(str, inputs), Path()).items())}
    return {path: versions for path, versions in found.items() if versions}


def repositories(inputs: Sequence[Path]) -> dict[str, str]:
    """Of all that a result was made from, the repositories of the hub with the commits that were taken."""
    found: dict[str, str] = {}
    for path in sources(map(str, inputs), Path()):
        if (origin := Path(path) / ORIGIN_FILE).is_file():
            found |= read_json(origin)
        elif path.startswith(_RECEIPTS) and Path(path).is_file():
            for file in read_json(Path(path))["files"]:
                repository, at, commit = str(file.get("revision", "")).rpartition("@")
                found |= {f"datasets/{repository}": commit} if at else {}
    return dict(sorted(found.items()))


def machine() -> dict[str, Any]:
    """Processor, operating system and number of GPUs, without names of host or user."""
    return {"cpu": _processor(), "system": platform.system(), "architecture": platform.machine(), "gpus": count_gpus()}


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def _seeds(result: Path) -> list[int]:
    from reprlab.artifacts.tables import read_tsv

    if result.suffix != ".tsv":
        return []
    frame: pandas.DataFrame = read_tsv(result)
    return sorted({int(seed) for seed in frame["seed"].dropna()}) if "seed" in frame else []
