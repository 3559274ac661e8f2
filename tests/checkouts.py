"""Checkouts to run the workflow in: copies of the tracked files, so that no test touches the project's own results."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[1]


class Checkout:
    """A copy of the project, and the command line that a user would type in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.nano = root / "runs" / "nano"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", *arguments]

    def environment(self, **variables: str) -> dict[str, str]:
        cache = os.environ.get("REPRLAB_CACHE", str(ROOT / "resources" / "downloads"))
        return {**os.environ, "REPRLAB_CACHE": cache, "PYTHONPATH": "", **variables}

    def run(self, *arguments: str, check: bool = True, timeout: int = 900, **variables: str):
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"{' '.join(arguments)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def planned(self, *arguments: str, scale: str = "nano", config: tuple[str, ...] = ()) -> dict[str, int]:
        """Rules that a dry run would execute, with the number of their jobs."""
        done = self.run("--dry-run", "--cores", "2", "--config", f"scale={scale}", *config, "--", *arguments)
        return job_counts(done.stdout + done.stderr)


def job_counts(text: str) -> dict[str, int]:
    """The table under `Job stats:` of Snakemake's output."""
    tables = re.findall(r"^Job stats:\n.*?\n-[- ]*\n(.*?)^total", text, flags=re.M | re.S)
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", tables[0], flags=re.M)} if tables else {}


def copy_project(target: Path, build: str = "depth") -> Checkout:
    """Tracked files, and new ones that git does not ignore; `all` is the paper `build` there."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    for name in listed.decode().split("\0"):
        if name and (ROOT / name).is_file():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, path)
    # As in a checkout that was run before: its code is neither compiled nor read for digests a hundred times.
    for path in (ROOT / "workflow").rglob("__pycache__/[!.]*"):
        # What another worker is writing has another ending.
        if path.suffix in (".pyc", ".json"):
            kept = target / path.relative_to(ROOT)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, kept)
    config = target / "config/config.yaml"
    text, count = re.subn(r"^build: \[.*\]$", f"build: [{build}]", config.read_text(encoding="utf-8"), flags=re.M)
    assert count == 1, f"{config}: no line `build: [...]`"
    config.write_text(text, encoding="utf-8")
    return Checkout(target)


def shared_folder(tmp_path_factory) -> Path:
    """The folder that all workers of a session share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own


def once(tmp_path_factory, name: str, make: Callable[[Path], object]) -> Checkout:
    """A checkout called `name`, written by `make` once for all workers."""
    shared = shared_folder(tmp_path_factory)
    root, done = shared / name, shared / f"{name}.done"
    with FileLock(shared / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(root, ignore_errors=True)
            make(root)
            done.touch()
    return Checkout(root)


def made_once(tmp_path_factory, name: str, *targets: str) -> Checkout:
    """A copy called `name` in which `targets` were made at `nano`, once for all workers."""

    def make(root: Path) -> None:
        copy_project(root).run("--cores", "2", "--config", "scale=nano", "--", *targets, timeout=1500)

    return once(tmp_path_factory, name, make)


def private_copy(made: Checkout, root: Path) -> Checkout:
    """A copy of a checkout, times of files kept."""
    # cp keeps nanoseconds and the engine's own records; hard links would let an edit reach the original.
    subprocess.run(["cp", "-a", str(made.root), str(root)], check=True)
    return Checkout(root)


@pytest.fixture(scope="session")
def blank(tmp_path_factory) -> Checkout:
    """A copy with nothing made in it: the files are collected once. Never edit it: use `checkout`."""
    return once(tmp_path_factory, "blank", copy_project)


@pytest.fixture
def checkout(blank, tmp_path) -> Checkout:
    """A private copy with nothing made in it."""
    return private_copy(blank, tmp_path / "project")
