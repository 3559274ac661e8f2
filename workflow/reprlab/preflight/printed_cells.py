"""Printed cells of each paper that a plan makes: `python -m reprlab.preflight.printed_cells [PAPER …] [--reasons]`.

A cell is planned where a job of the plan will write the value beside it, or a table of ours that its reason names. Else
the reason must name what stands in the way: a licence, a file that is missing, a row that the paper quotes from others,
work by hand; or that the audit recomputes it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
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
from reprlab.results.records import PaperResults, records_of
from reprlab.results.sources import GatherSettings, Value
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.folders import checkout_root
from reprlab.settings.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas

    from reprlab.planning.plan import Job, Plan

_KINDS = {
    "licence": r"\blicen[sc]ed\b",
    "missing": r"internal data|not released|not public|on cloud drives alone|could not be read here",
    "quoted": r"\bquoted\b",
    "by hand": r"\bby hand\b",
    "audit": r"\bthe audit\b",
}
COLUMNS = ("paper", "table", "printed", "planned", *_KINDS, "open")


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
    def by_kind(self) -> dict[str, int]:
        """The same by what the reason names; `open`: nothing that stands in the way."""
        found = dict.fromkeys((*_KINDS, "open"), 0)
        for reason, cells in self.reasons.items():
            found[kind_of(reason)] += cells
        return found


def kind_of(reason: str) -> str:
    """What a reason names first; `open`: nothing that stands in the way."""
    return next((kind for kind, words in _KINDS.items() if re.search(words, reason)), "open")


def counts(root: Path, paper: str, scale: str = "paper") -> list[Count]:
    """The counts of each printed table of a paper, in its order."""
    plan, records = paper_plan(root, paper, scale), records_of(paper.replace("-", "_"))
    cells, targets = beside_plan(root, paper, plan, records), set(plan.targets[paper])
    made = (cells["ours"] != "") | cells["note"].map(lambda note: _elsewhere(paper, note, targets))
    found = []
    for table, part in cells.assign(made=made).groupby("table", sort=False):
        reasons = dict(Counter(map(str, part.loc[~part["made"], "note"])))
        found.append(Count(paper, str(table), len(part), int(part["made"].sum()), reasons))
    return found


def beside_plan(root: Path, paper: str, plan: Plan, records: PaperResults) -> pandas.DataFrame:
    """The paper's comparison as a run would write it: `ours` is filled where a job will write the value."""
    settings = GatherSettings.model_validate_json(plan.jobs["gather_results"][paper].settings["settings"])
    published = read_published([root / path for path in published_files(root, paper)], declarations(records.printed))
    made = {
        path: {**paths.wildcard_values(stage, key), **_settings(job)}
        for stage, jobs in plan.jobs.items()
        for key, job in jobs.items()
        for path in plan.outputs(stage, key).values()
    }
    return compare(promised(records, settings, made, _asked(records, published)), published, records.printed)


def _asked(records: PaperResults, published: Mapping[str, pandas.DataFrame]) -> dict[str, list[Value]]:
    """The values of each key of the printed tables."""
    asked: dict[str, list[Value]] = {}
    for name, table in records.printed.items():
        for key in table.keys:
            found = list(published[name][key].unique())
            if key in records.factors and records.factors[key].kind != "text":
                found = [float(one) for one in found if re.fullmatch(r"[\d.]+", one)]
            asked[key] = list(dict.fromkeys([*asked.get(key, []), *found]))
    return asked


def _settings(job: Job) -> dict[str, Any]:
    """The settings of a planned job, those of its parts beside its own."""
    given = [json.loads(one) for one in job.settings.values() if isinstance(one, str) and one[:1] == "{"]
    parts = [part for values in given for part in (*(one for one in values.values() if isinstance(one, dict)), values)]
    return {name: value for part in parts for name, value in part.items()}


def _elsewhere(paper: str, note: str, targets: set[str]) -> bool:
    """Whether a reason that nothing stands in the way of names a planned table of ours."""
    found = re.search(r"\b(\w+\.tsv)\b", note)
    return found is not None and kind_of(note) == "open" and paths.result(paper, found[1]) in targets


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print the counts; the exit status is 1 where a cell is neither planned nor has a reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", help="slugs; all, if none is given")
    parser.add_argument("--scale", default="paper")
    parser.add_argument("--reasons", action="store_true", help="list the reasons below each table")
    root, given = checkout_root(), parser.parse_args(arguments)
    lines, still = ["\t".join(COLUMNS)], 0
    known = sorted(load_config(root).papers)
    if unknown := [name for name in given.papers if name not in known]:
        raise ReprlabError(f"{unknown[0]}: there is no such paper{nearest(unknown[0], known)}")
    for paper in given.papers or known:
        for one in counts(root, paper, given.scale):
            numbers = (one.printed, one.planned, *one.by_kind.values())
            lines.append("\t".join((one.paper, one.table, *map(str, numbers))))
            if given.reasons:
                lines += [f"\t{cells}\t{kind_of(reason)}: {reason}" for reason, cells in one.reasons.items()]
            still += one.by_kind["open"]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(still > 0)


if __name__ == "__main__":
    sys.exit(main())
