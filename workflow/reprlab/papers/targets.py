"""`make list`: what can be asked for, with the minutes and the disk that it took here or where it was measured."""

import argparse
import csv
import signal
import sys
from pathlib import Path

from reprlab.config.load import LoadedConfig, load_config
from reprlab.papers.planning import make_plan
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.folders import checkout_root

MEASURED = "resources/measured.tsv"


def list_targets(config: LoadedConfig) -> list[dict[str, str]]:
    """One row per target: its name, whether it is there, minutes and MB.

    Minutes and MB are those of `resources/measured.tsv` for this scale (two idle cores, from nothing, downloads not
    counted); empty where nobody measured them.
    """
    measured = {row["target"]: row for row in _measured(config.root) if row["scale"] == config.scale}
    rows = []
    for paper, targets in make_plan(config).targets.items():
        for target in [paper, *targets]:
            known = measured.get(target, {})
            there = "yes" if target != paper and (config.run_folder / target).exists() else ""
            rows.append(
                {
                    "target": target,
                    "there": there,
                    "minutes": known.get("minutes", ""),
                    "disk_mb": known.get("disk_mb", ""),
                }
            )
    return rows


def _measured(root: Path) -> list[dict[str, str]]:
    path = root / MEASURED
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default=None, help="nano, mini, small or paper; the default is that of config.yaml")
    given = parser.parse_args(arguments)
    try:
        rows = list_targets(load_config(checkout_root(), {"scale": given.scale} if given.scale else {}))
    except ReprlabError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    for row in [dict(zip(rows[0], rows[0], strict=True)), *rows]:
        sys.stdout.write("  ".join(value.ljust(widths[name]) for name, value in row.items()).rstrip() + "\n")
    return 0


if __name__ == "__main__":
    # A reader that has seen enough (`make list | head`) ends the listing without a traceback.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
