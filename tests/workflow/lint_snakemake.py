"""`snakemake --lint` with the accepted findings, each with its reason; any other finding fails."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ACCEPTED = {
    # One locked environment serves all rules (envs/requirements.txt), so that a stage can be run by hand.
    r"Specify a conda environment or container for each rule\.",
    # common.smk is the common module that the linter asks for; it also reads the config.
    r"Mixed rules and functions in same snakefile\.",
    # What does not change a result must not be a param, or an edit of it would rerun the job (config/README.md).
    r"Shell command directly uses variable (rule|PLAN|RUNTIME) from outside.*",
    # They are set for the jobs, not asked of the user.
    r"Environment variable (PATH|PYTHONPATH|PYTHONSAFEPATH) used but not asserted.*",
    r"Absolute path .*",
}


def findings(text: str) -> list[str]:
    """`where: finding` for every finding in the linter's text."""
    where, found = "", []
    for line in text.splitlines():
        if line.startswith("Lints for "):
            where = line.removeprefix("Lints for ").rstrip(":")
        elif line.startswith("    * "):
            found.append(f"{where}: {line.removeprefix('    * ').rstrip(':')}")
    return found


def accepted(finding: str) -> bool:
    """Whether the finding is one of the accepted ones."""
    title = finding.partition(": ")[2]
    return any(re.fullmatch(pattern, title) for pattern in ACCEPTED)


def main() -> int:
    """Print what is not accepted."""
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--lint", "--config", "scale=nano"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    found = findings(done.stdout + done.stderr)
    left = [finding for finding in found if not accepted(finding)]
    if not found:
        # Rules without an environment are always found: silence means that the linter did not run.
        sys.stderr.write(done.stdout + done.stderr)
        return 1
    sys.stderr.write("".join(f"{line}\n" for line in left))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
