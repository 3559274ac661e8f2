"""`snakemake --lint` with the accepted exceptions, each with its reason; any other finding fails."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ACCEPTED = {
    "No software environment": "one locked environment for all rules (envs/requirements.txt); see README",
    "Specify a conda environment or container for each rule.": "the same, in the words of other releases",
    "Absolute path": "paths in messages and docstrings",
    "Mixed rules and functions in same snakefile.": "common.smk holds the few functions; rules stand elsewhere",
}


def main() -> int:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--lint", "json", "--config", "scale=nano"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    start = done.stdout.find("{")
    if start < 0:
        sys.stderr.write(done.stdout + done.stderr)
        return 1
    report = json.loads(done.stdout[start:])
    groups = [*report.get("rules", []), *report.get("snakefiles", [])]
    left = [
        f"{group.get('rule') or group.get('snakefile')}: {finding['title']}: {finding['body']}"
        for group in groups
        for finding in group["lints"]
        if finding["title"] not in ACCEPTED
    ]
    sys.stderr.write("".join(f"{line}\n" for line in left))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
