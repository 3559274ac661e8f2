"""The commands beside `snakemake`: `reprlab <command> …`, or `python -m reprlab <command> …`.

Each is the goal of `make` that has its name, with options in place of variables; `reprlab <command> -h` lists them.
"""

from __future__ import annotations

import os
import sys

from reprlab.runtime.errors import ReprlabError, told_in_one_line

COMMANDS = {
    "list": ("reprlab.planning.targets", "results with their minutes and disk"),
    "metrics": ("reprlab.planning.metric_list", "every metric with its unit, direction and range"),
    "explain": ("reprlab.preflight.explain", "which jobs would run, and why"),
    "preflight": ("reprlab.preflight", "what a run needs and does not have"),
    "rehearse": ("reprlab.preflight.rehearse", "each kind of job of scale paper once, small"),
    "pin": ("reprlab.preflight.branches", "the commits of branches of the hub"),
    "sensitivity": ("reprlab.planning.sensitivity", "what the verdicts of a paper depend on"),
    "power": ("reprlab.runs.power", "the smallest effect that a planned run can decide"),
    "chance": ("reprlab.results.chance", "claims of a run that shuffled values support"),
    "compare": ("reprlab.runs.compare", "two runs side by side"),
    "verify": ("reprlab.reporting.verify", "results that are not what their stages wrote"),
    "bundle": ("reprlab.reporting.bundle", "report and results in one archive"),
    "prune": ("reprlab.reporting.prune", "free what can be made again without training"),
    "export": ("reprlab.planning.encoders", "whether an encoder can be exported, and its name"),
    "new": ("reprlab.scaffold", "files of a paper, a model or a task to begin with"),
    "cells": ("reprlab.preflight.printed_cells", "printed cells of a paper, and what makes them"),
}
"""Module and purpose of each command."""


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0] in ("-h", "--help"):
        sys.stdout.write(f"usage: reprlab COMMAND …\n\n{__doc__}\n")
        sys.stdout.writelines(f"  {name:<12} {purpose}\n" for name, (_, purpose) in COMMANDS.items())
        sys.stdout.write("\nResults are made by snakemake: `snakemake --cores 2 results/depth/glue.tsv`.\n")
        return 0
    if given[0] not in COMMANDS:
        from reprlab.settings.errors import nearest

        raise ReprlabError(f"{given[0]}: there is no such command{nearest(given[0], COMMANDS)}; reprlab -h lists them")
    os.execv(sys.executable, [sys.executable, "-m", COMMANDS[given[0]][0], *given[1:]])  # noqa: S606


if __name__ == "__main__":
    sys.exit(main())
