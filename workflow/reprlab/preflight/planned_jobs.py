"""Number of jobs of each paper at each scale: `python -m reprlab.preflight.planned_jobs --write` rewrites the table."""

import argparse
import sys
from pathlib import Path

from reprlab.config.load import load_config
from reprlab.config.runtime import SCALES
from reprlab.planning.plan import Plan
from reprlab.plugins import load_plugin
from reprlab.runtime.files import write_text
from reprlab.runtime.folders import checkout_root

TABLE = "resources/planned_jobs.tsv"
COLUMNS = ("paper", "scale", "rule", "jobs")


def paper_plan(root: Path, paper: str, scale: str) -> Plan:
    """The plan of one paper alone, as the files of `root` set it."""
    plan = Plan()
    config = load_config(root, {"scale": scale}, targets=[paper])
    load_plugin("papers", f"{paper.replace('-', '_')}.plan").add_jobs(plan, config)
    return plan


def planned_jobs(root: Path) -> str:
    """The table as text: jobs of each rule, by paper and scale; what papers share is counted for each."""
    rows = [COLUMNS]
    for paper in sorted(load_config(root).papers):
        for scale in SCALES:
            jobs = paper_plan(root, paper, scale).jobs
            rows += [(paper, scale, rule, str(len(jobs[rule]))) for rule in sorted(jobs)]
    return "".join("\t".join(row) + "\n" for row in rows)


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {TABLE}")
    root = checkout_root()
    text = planned_jobs(root)
    if parser.parse_args(arguments).write:
        write_text(root / TABLE, text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
