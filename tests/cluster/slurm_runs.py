"""Runs of the workflow by `profiles/slurm`, and what they leave."""

import subprocess
import time
from pathlib import Path

# The profile as it is, but for the waiting times of a big cluster; without accounting there is squeue alone.
PROFILE = (
    *("--profile", "profiles/slurm", "--jobs", "6", "--latency-wait", "10"),
    *("--slurm-init-seconds-before-status-checks", "2", "--slurm-status-command", "squeue"),
)
LADDER = "results/shared/pretrained/depth_t5_fs_s2137"
# Long enough to be stopped in the middle; resume points change no result.
LONG = (
    "papers.depth.pretraining.runs.fs.steps=400, papers.depth.pretraining.runs.fs.ladder=[2, 400], runtime.save_every=5"
)
# Behind its first resume point when it is cancelled, and not for long.
CANCELLED = LONG.replace("400", "150")
TRAINING = "rule_pretrain_lm_wildcards_depth_t5_fs_s2137"


class Run:
    """A Snakemake engine in the background, its output in a file. Its jobs are Slurm's; its own where that is None."""

    def __init__(self, checkout, slurm, *arguments):
        self.checkout, self.out = checkout, checkout.root.parent / f"{checkout.root.name}.log"
        with self.out.open("w") as out:
            self.process = subprocess.Popen(
                checkout.command(*(PROFILE if slurm else ("--cores", "1")), *arguments),
                cwd=checkout.root,
                env=checkout.environment(**(slurm.variables if slurm else {})),
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def finish(self, seconds=900):
        status = self.process.wait(timeout=seconds)
        assert status == 0, self.out.read_text()[-5000:]

    def wait_for(self, found, seconds=240):
        deadline = time.monotonic() + seconds
        while not (value := found()):
            assert time.monotonic() < deadline, self.out.read_text()[-5000:]
            assert self.process.poll() is None, self.out.read_text()[-5000:]
            time.sleep(0.2)
        return value


# The columns of `cost.tsv` that hold seconds of this run.
MEASURED = {"predicted_seconds", "measured_seconds", "ratio"}


def contents(folder: Path) -> dict[str, bytes]:
    """The files that are the same each time, by name; of `cost.tsv` what does not depend on the run's own seconds."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    varying = (".provenance.json", "throughput.tsv", ".png", ".svg")
    kept = [path for path in files if not path.name.endswith(varying)]
    return {
        str(path.relative_to(folder)): unmeasured(path) if path.name == "cost.tsv" else path.read_bytes()
        for path in kept
    }


def unmeasured(path: Path) -> bytes:
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    assert set(header) >= MEASURED
    places = [place for place, name in enumerate(header) if name not in MEASURED]
    return "\n".join("\t".join(row[place] for place in places) for row in [header, *rows]).encode()
