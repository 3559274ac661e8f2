"""How planning grows: seconds and memory of the plan alone and of a dry run, by number of jobs and of papers.

    python benchmarks/planning.py --jobs 1000 10000 --papers 1 4 --dry-run

A grid is enlarged by seeds: DEPTH at paper scale has about 1,160 jobs with one seed, and fine-tunes every run with
every seed, so jobs grow with their square. Papers are added by planning the same grid
again. The dry run is the engine's whole work before the first job; it is measured for grids only.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

from reprlab.config.load import load_config  # noqa: E402
from reprlab.planning.plan import Plan  # noqa: E402
from reprlab.plugins import load_plugin  # noqa: E402

SEEDS = "set=papers.depth.pretraining.seeds={seeds}; papers.depth.finetuning.seeds={seeds}"


def edits(seeds: int) -> str:
    """The edit that gives a grid this many seeds."""
    return SEEDS.format(seeds=str(list(range(1, seeds + 1))))


def size(plan: Plan) -> int:
    """Jobs of a plan."""
    return sum(map(len, plan.jobs.values()))


def grid_row(seeds: int) -> dict[str, object]:
    """One plan of DEPTH's paper grid with this many seeds."""
    start = time.process_time()
    plan = Plan()
    load_plugin("papers", "depth.plan").add_jobs(
        plan, load_config(ROOT, {"scale": "paper", "set": edits(seeds).removeprefix("set=")})
    )
    return {"what": f"grid of {seeds} seeds", "jobs": size(plan), "plan_seconds": time.process_time() - start}


def papers_row(papers: int) -> dict[str, object]:
    """DEPTH's paper grid planned this many times, as papers that share all they can would be."""
    start, jobs = time.process_time(), 0
    config = load_config(ROOT, {"scale": "paper"})
    for _ in range(papers):
        plan = Plan()
        load_plugin("papers", "depth.plan").add_jobs(plan, config)
        jobs += size(plan)
    return {"what": f"{papers} papers", "jobs": jobs, "plan_seconds": time.process_time() - start}


def dry_run(seeds: int) -> dict[str, object]:
    """Seconds of processor time and memory of the engine, measured in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        program = (
            "import resource, subprocess, sys\n"
            "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
            "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
            "print(code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)\n"
        )
        command = [
            sys.executable, "-c", program, sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "all", "--nolock",
            "--snakefile", str(ROOT / "Snakefile"), "--cores", "1",
            "--config", "scale=paper", f"run=planning_{Path(folder).name}", edits(seeds), "--", "depth",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    code, seconds, memory = done.stdout.split()[-3:]
    if code != "0":
        sys.exit(done.stderr)
    return {"dry_run_seconds": float(seconds), "dry_run_mb": float(memory)}


def main() -> None:
    """Print one line for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="*", default=[1_000, 10_000], help="sizes of the grid, about")
    parser.add_argument("--papers", type=int, nargs="*", default=[1, 4, 14], help="numbers of papers")
    parser.add_argument("--dry-run", action="store_true", help="run the engine's dry run too")
    options = parser.parse_args()
    grid_row(1)  # imports
    one = int(str(grid_row(1)["jobs"]))
    sys.stdout.write("what\tjobs\tplan_seconds\tmicroseconds_per_job\tdry_run_seconds\tdry_run_mb\n")
    for seeds in sorted({max(1, round((jobs / one) ** 0.5)) for jobs in options.jobs}):
        row = grid_row(seeds)
        show({**row, **(dry_run(seeds) if options.dry_run else {})})
    for papers in options.papers:
        show(papers_row(papers))
    sys.stdout.write(
        f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB\n"
    )


def show(row: dict[str, object]) -> None:
    """One line of the table."""
    seconds, jobs = float(str(row["plan_seconds"])), int(str(row["jobs"]))
    more = [f"{row[name]:.1f}" if name in row else "" for name in ("dry_run_seconds", "dry_run_mb")]
    sys.stdout.write(
        "\t".join([str(row["what"]), str(jobs), f"{seconds:.2f}", f"{seconds / jobs * 1e6:.0f}", *more]) + "\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
