"""`make list`: what can be asked for, with the minutes and the disk that it took here or where it was measured."""

import argparse
import signal
import sys

from reprlab.config.load import LoadedConfig, load_config
from reprlab.config.runtime import SCALES
from reprlab.planning.cost_totals import read_total
from reprlab.planning.measured import measure
from reprlab.planning.measured_tables import TABLE, read_rows
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.folders import checkout_root


def list_targets(config: LoadedConfig) -> list[dict[str, str]]:
    """One row per target: its name, whether it is there, and for each scale what it takes with all it is made from.

    That is measured where this checkout has a run of the scale that made it, else what `resources/measured.tsv` says. A
    scale at which nobody measured anything has no column.
    """
    known = {(row["target"], row["scale"]): row for row in read_rows(config.root / TABLE)}
    plan = RunPlan(make_plan(config), config.root)
    for scale in SCALES:
        run = config if scale == config.scale else load_config(config.root, {"scale": scale})
        if (run.run_folder / "results/benchmarks").is_dir():
            planned = plan if run is config else RunPlan(make_plan(run), run.root)
            known |= {(row["target"], scale): row for row in measure(run.run_folder, planned, scale)}
    scales = [scale for scale in reversed(SCALES) if any(measured == scale for _, measured in known)]
    rows = []
    for paper, targets in plan.targets.items():
        for target in [paper, *targets]:
            there = "yes" if target != paper and (config.run_folder / target).exists() else ""
            costs = {scale: _in_words(known.get((target, scale))) for scale in scales}
            rows.append({"target": target, f"there at {config.scale}": there, **costs})
    return rows


def published_costs(config: LoadedConfig, rows: list[dict[str, str]]) -> list[str]:
    """A line for each paper among the rows that has a known cost at its own scale, and one for all of them."""
    totals = {row["target"]: read_total(config.root, row["target"]) for row in rows if "/" not in row["target"]}
    known = {paper: total for paper, total in totals.items() if total is not None}
    width = max((len(paper) for paper in known), default=0)
    lines = [f"{paper.ljust(width)}  {total.in_words()}" for paper, total in known.items()]
    if len(known) > 1:
        disk = sum(total.downloaded_gb + total.kept_gb for total in known.values())
        hours = sum(total.device_hours for total in known.values())
        lines.append(f"{'all'.ljust(width)}  {hours:,.0f} hours, {disk:,.0f} GB; what papers share is counted for each")
    return lines


def _named(rows: list[dict[str, str]], names: list[str]) -> list[dict[str, str]]:
    """The rows of papers and targets that a name is a part of.

    Raises:
        ReprlabError: a name is a part of none.
    """
    for name in names:
        if not any(name in row["target"] for row in rows):
            papers = [row["target"] for row in rows if "/" not in row["target"]]
            raise ReprlabError(
                f"{name}: there is no such target; name a paper ({', '.join(papers)}) or a part of a file"
            )
    return [row for row in rows if any(name in row["target"] for name in names)]


def _in_words(row: dict[str, str] | None) -> str:
    if row is None:
        return ""
    cores = f" x {row['cores']}" if row["cores"] != "1" else ""
    return f"{row['minutes']} min{cores}" + (f", {row['disk_mb']} MB" if row["disk_mb"] else "")


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default=None, help="nano, mini, small or paper; the default is that of config.yaml")
    parser.add_argument("names", nargs="*", help="papers, or parts of the names of targets; all by default")
    given = parser.parse_args(arguments)
    config = load_config(checkout_root(), {"scale": given.scale} if given.scale else {})
    rows = list_targets(config)
    if given.names:
        rows = _named(rows, given.names)
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    for row in [dict(zip(rows[0], rows[0], strict=True)), *rows]:
        sys.stdout.write("  ".join(value.ljust(widths[name]) for name, value in row.items()).rstrip() + "\n")
    if config.scale == "paper":
        sys.stdout.write("\nas published:\n" + "".join(f"{line}\n" for line in published_costs(config, rows)))
    sys.stdout.write("min: from nothing, without downloads, one job after the other; x 2: on two cores\n")
    return 0


if __name__ == "__main__":
    # A reader that has seen enough (`make list | head`) ends the listing without a traceback.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
