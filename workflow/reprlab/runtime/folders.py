"""Folders of a run that the environment names, and those that no run can work in."""

import os
import sys
from pathlib import Path

from reprlab.runtime.errors import ReprlabError

CACHE_VARIABLE = "REPRLAB_CACHE"


def download_cache(checkout: Path) -> Path:
    """The folder of downloads: what REPRLAB_CACHE names, else `resources/downloads` of the checkout."""
    return Path(os.environ.get(CACHE_VARIABLE) or checkout / "resources/downloads").expanduser().resolve()


def home_of(root: Path, directory: str | Path | None, snakefile: str) -> Path:
    """Where runs lie: the checkout `root`; the working folder where `--directory` has named it, or where another
    workflow's Snakefile uses this one."""
    own = {root / "Snakefile", root / "workflow/Snakefile"}
    return Path.cwd() if directory or Path(snakefile).resolve() not in own else root


def export_environment(workflow: Path) -> None:
    """Let jobs find the package in the folder `workflow` and the interpreter that runs the engine, and nothing that
    lies in the folder of a run in the place of a package."""
    path, own = os.environ.get("PYTHONPATH"), str(Path(sys.executable).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(workflow), *([path] if path else [])])
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ["PATH"] = os.pathsep.join([own, os.environ.get("PATH", "")])


def runs_of(checkout: Path) -> list[Path]:
    """Folders of the runs of a checkout: itself, which holds the default run, and those below `runs/`."""
    return [checkout, *(path for path in sorted((checkout / "runs").glob("*")) if path.is_dir())]


def require_importable(folder: Path) -> None:
    """Refuse a folder below which Python would not find this project's code, and would take an installed copy's.

    Raises:
        ReprlabError: its path holds the character that separates the folders of PYTHONPATH.
    """
    if os.pathsep in str(folder):
        raise ReprlabError(f"{folder}: Python cannot import from a path with {os.pathsep!r}; move or rename the folder")


def checkout_root() -> Path:
    """The checkout that the working folder lies in: the nearest folder upwards with a Snakefile and its config.

    Raises:
        ReprlabError: there is none.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        snakefile = any((folder / name).is_file() for name in ("Snakefile", "workflow/Snakefile"))
        if snakefile and (folder / "config/config.yaml").is_file():
            return folder
    raise ReprlabError(f"{here}: no checkout of this workflow; change to the folder that holds Snakefile and config/")
