"""Small and read-only disks for runs. Mounting needs root; a test that cannot mount says so."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

REASON = "mounting needs root"


def _mount(*arguments: str) -> None:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip(REASON)
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{REASON}: {done.stderr.strip()}")


@contextmanager
def small_disk(folder: Path, megabytes: float) -> Iterator[None]:
    """A disk of this size at `folder`, holding what lies there; afterwards the folder holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    before = folder.with_name(folder.name + ".before")
    folder.rename(before)
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={int(megabytes * 1024)}k", "tmpfs", str(folder))
    try:
        subprocess.run(["cp", "-a", f"{before}/.", str(folder)], check=True)
        shutil.rmtree(before)
        yield
        subprocess.run(["cp", "-a", str(folder), str(before)], check=True)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
    folder.rmdir()
    before.rename(folder)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """`folder` as a read-only disk: permissions alone do not stop root."""
    _mount("--bind", str(folder), str(folder))
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
