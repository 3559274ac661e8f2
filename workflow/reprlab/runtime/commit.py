"""The commit of the code that runs."""

import json
import subprocess
from pathlib import Path

from reprlab.runtime.planned import FROZEN

ROOT = Path(__file__).resolve().parents[3]


def commit() -> str:
    """Commit of the code that this process runs; a frozen copy knows that of its checkout."""
    record = ROOT / FROZEN
    if record.is_file():
        return str(json.loads(record.read_text(encoding="utf-8"))["commit"])
    return describe(ROOT)


def describe(folder: Path) -> str:
    """Commit of a working copy, with `-modified` where files differ from it; empty outside git."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--dirty=-modified", "--exclude=*"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
