"""A frozen copy of code and config for the jobs of a run.

A stage imports parts of the package while it works, and each job of a cluster parses the workflow again, hours after
the run was planned. They do so from a copy that is made when the run starts, so an edit of the checkout meanwhile
reaches no job of that run.
"""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.runtime.commit import describe
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.runtime.planned import FROZEN

RECORD = FROZEN
_PARTS = ("Snakefile", "workflow", "config", "resources/published", "resources/costs")
_FOLDER = Path(".snakemake/frozen")


@dataclass(frozen=True)
class Origin:
    """Where a frozen copy was made: the checkout, the run's folder, its plan, the whole config, and what `auto` is."""

    root: Path
    run_folder: Path
    plan: Path
    config: dict[str, Any]
    dtype: str


def origin_of(root: Path) -> Origin | None:
    """The origin of the frozen copy at `root`; None where `root` is a checkout."""
    path = root / RECORD
    if not path.is_file():
        return None
    values = read_json(path)
    return Origin(
        Path(values["root"]), Path(values["run_folder"]), Path(values["plan"]), values["config"], values["dtype"]
    )


def checkout_digest(root: Path, settings: Path | None = None) -> str:
    """Sixteen hex digits for code and published values below `root`, and `config/` there or below `settings`."""
    digest = hashlib.sha256()
    for name, top in _names(root, settings):
        content = hashlib.sha256((top / name).read_bytes()).hexdigest()
        digest.update(f"{name.as_posix()}\0{content}\n".encode())
    return digest.hexdigest()[:16]


def freeze(
    root: Path,
    run_folder: Path,
    config: Mapping[str, Any],
    dtype: str,
    planned: str,
    plan: Path,
    settings: Path | None = None,
) -> Path:
    """Copy code and config of the checkout `root` into the run's folder; returns the copy.

    Args:
        root: the checkout.
        run_folder: folder of the run, in which the copy lies.
        config: the whole config of the run, which the copy holds instead of the user's own files.
        dtype: what `auto` is on the machine that plans the run.
        planned: `checkout_digest` when the run was planned.
        plan: the run's plan, which the jobs of a cluster read.
        settings: the folder whose `config/` is copied, if it is not the checkout.

    Raises:
        ReprlabError: the checkout was edited since then, so jobs would run other code than was planned.
    """
    folder = run_folder / _FOLDER
    record = {
        "root": str(root),
        "run_folder": str(run_folder),
        "plan": str(plan),
        "config": dict(config),
        "dtype": dtype,
        "commit": describe(root),
    }
    name = hashlib.sha256(f"{planned}\n{record!r}".encode()).hexdigest()[:16]
    copy = folder / name
    if not (copy / RECORD).is_file():
        with atomic_directory(copy) as temporary:
            for part, top in _names(root, settings):
                (temporary / part).parent.mkdir(parents=True, exist_ok=True)
                # With its time: the engine compares the times of inputs.
                shutil.copy2(top / part, temporary / part)
                (temporary / part).chmod(0o444)
            write_json(temporary / RECORD, record)
    if checkout_digest(copy) != planned:
        shutil.rmtree(copy)
        raise ReprlabError(f"{root}: code or config was edited while the run was planned; give the same command again")
    return copy


def _names(root: Path, settings: Path | None) -> Iterator[tuple[Path, Path]]:
    """Files of the copy in a fixed order, each with the folder that it is relative to."""
    for part in _PARTS:
        top = settings if settings and part == "config" else root
        whole = top / part
        found = [whole] if whole.is_file() else sorted(path for path in whole.rglob("*") if path.is_file())
        for path in found:
            name = path.relative_to(top)
            if "__pycache__" not in name.parts and not any(piece.startswith(".") for piece in name.parts):
                yield name, top
