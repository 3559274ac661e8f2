"""Programs of Debian that some tests need, installed where that may be done."""

import os
import shutil
import subprocess
from collections.abc import Sequence


def install(programs: Sequence[str], packages: Sequence[str]) -> str:
    """Install `packages` where one of `programs` is missing; why that failed, or nothing."""
    if all(shutil.which(program) for program in programs):
        return ""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return "not root, or no apt-get"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Other tests install, too.
    apt = ["apt-get", "-o", "DPkg::Lock::Timeout=300"]
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        done = subprocess.run([*apt, *arguments], env=environment, capture_output=True, text=True, check=False)
        if done.returncode and arguments[0] == "install":
            return (done.stderr.strip().splitlines() or ["apt-get failed"])[-1]
    return ""
