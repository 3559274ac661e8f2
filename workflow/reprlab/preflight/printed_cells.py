"""Printed cells of each paper's tables that a plan makes: `python -m reprlab.preflight.printed_cells [PAPER …]`.

A cell is planned where a job of the plan will write its counterpart. Else its reason must say why none can: a licence, a
missing file, a row that the paper quotes from others, or arithmetic that the audit recomputes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.config.load import load_config
from reprlab.planning import paths
from reprlab.planning.published_jobs import published_files
from reprlab.preflight.planned_jobs import paper_plan
from reprlab.reporting.published import read_published
from reprlab.results.comparison import compare, declarations
from reprlab.results.promised import promised
from reprlab.results.records import records_of
from reprlab.results.sources import GatherSettings
from reprlab.runtime.folders import checkout_root

if TYPE_CHECKING:
    import pandas

    from reprlab.planning.plan import Job

COLUMNS = ("paper", "table", "printed", "planned", "reasoned", "open")


@dataclass(frozen=True)
class Count:
    """Cells of one printed table."""

    paper: str
    table: str
    printed: int
    planned: int
    reasons: dict[str, int]
    """Cells that no job makes, by their reason."""

    @property
    def open(self) -> dict[str, int]:
        """Reasons that name nothing that stands in the way."""
        return {reason: n for reason, n in self.reasons.items() if kind_of(reason) is None}


def kind_of(reason: str) -> str | None:
    """What a reason names; None: nothing that stands in the way."""
    return next((name for name, words in _KINDS.items() if re.search(words, reason, re.IGNORECASE)), None)


_KINDS = {
    "licence": r"\blicen[sc]ed?\b",
}


def beside_plan(root: Path, paper: str, scale: str = "paper") -> pandas.DataFrame:
    """The paper's comparison as a run would write it: `ours` is filled where a job will write the value."""
    plan, records = paper_plan(root, paper, scale), records_of(paper.replace("-", "_"))
    settings = GatherSettings.model_validate_json(plan.jobs["gather_results"][paper].settings["settings"])
    published = read_published([root / path for path in published_files(root, paper)], declarations(records.printed))
    asked: dict[str, list[str | int | float]] = {}
    for name, table in records.printed.items():
        for key in table.keys:
            kind = records.factors[key].kind if key in records.factors else "text"
            found = published[name][key].unique()
            numbers = [float(one) for one in found if re.fullmatch(r"[\d.]+", one)]
            asked[key] = list(dict.fromkeys([*asked.get(key, []), *(found if kind == "text" else numbers)]))
    made = {
        path: {**paths.wildcard_values(stage, key), **_settings(job)}
        for stage, jobs in plan.jobs.items()
        for key, job in jobs.items()
        for path in plan.outputs(stage, key).values()
    }
    return compare(promised(records, settings, made, asked), published, records.printed)


def _settings(job: Job) -> dict[str, Any]:
    """The settings of a planned job, those of its task beside its own."""
    values = json.loads(str(job.settings.get("settings") or "{}"))
    nested = [one for one in values.values() if isinstance(one, dict)]
    return {name: value for part in (*nested, values) for name, value in part.items()}


def counts(root: Path, paper: str, scale: str = "paper") -> list[Count]:
    """The counts of each printed table of a paper, in its order."""
    cells = beside_plan(root, paper, scale)
    found = []
    for table, part in cells.groupby("table", sort=False):
        reasons = part.loc[part["ours"] == "", "note"].value_counts(sort=False).to_dict()
        found.append(Count(paper, str(table), len(part), int((part["ours"] != "").sum()), reasons))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the counts; the exit status is 1 where a reason names nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", help="slugs; all, if none is given")
    parser.add_argument("--scale", default="paper")
    parser.add_argument("--reasons", action="store_true", help="list the reasons below each table")
    root, given = checkout_root(), parser.parse_args(arguments)
    lines, left = ["\t".join(COLUMNS)], 0
    for paper in given.papers or sorted(load_config(root).papers):
        for one in counts(root, paper, given.scale):
            still = sum(one.open.values())
            numbers = (one.printed, one.planned, sum(one.reasons.values()) - still, still)
            lines.append("\t".join((one.paper, one.table, *map(str, numbers))))
            if given.reasons:
                lines += [f"\t{n}\t{kind_of(reason) or 'OPEN'}\t{reason}" for reason, n in one.reasons.items()]
            left += still
    sys.stdout.write("\n".join(lines) + "\n")
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main())
