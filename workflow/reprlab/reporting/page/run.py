"""The head of the page: when, by which commit, on what machine and with which versions the results were made."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence

from reprlab.reporting.page.folder import REPORTS, PaperFolder
from reprlab.reporting.page.html import Html, join, tag

MEANING = {
    "nano": "tests. A few steps on slices of the data: that everything runs, and nothing else",
    "mini": "a laptop. Small models trained on the spot on real text: mechanisms, not the papers' magnitudes",
    "small": "one GPU, or patience. Longer runs and larger slices; still not the papers' models and data",
    "paper": "the models, data and hyperparameters that the papers publish",
}
_COMMIT = 12


def facts(papers: Sequence[PaperFolder], scale: str, command: str, files: Sequence[Html]) -> Html:
    """The origin of these results, as a list of facts. `files` are links to files for the whole run."""
    records = [record for paper in papers for record in paper.records().values()]
    versions = _listed(", ".join(map(" ".join, record["versions"].items())) for record in records)
    earlier = {path: found for record in records for path, found in record.get("made_by_other_versions", {}).items()}
    entries = {
        "Results of": _newest(papers),
        "Scale": f"{scale}: for {MEANING[scale]}." if scale in MEANING else scale,
        "Commit": _listed(record["commit"][:_COMMIT] + _modified(record["commit"]) for record in records),
        "Machine": _listed(_machine(record["machine"]) for record in records),
        "Versions": tag("details", tag("summary", "Python and packages"), versions) if versions else "",
        "Made with other versions": _counted(" ".join(one) for found in earlier.values() for one in found.items()),
        "Again": tag("code", command) if command else "",
        "Files": join([join(" · " if number else None, link) for number, link in enumerate(files)]),
    }
    return tag("dl", [join(tag("dt", name), tag("dd", said)) for name, said in entries.items() if said], class_="facts")


def _newest(papers: Iterable[PaperFolder]) -> str:
    """Day and hour of the newest result; the page itself has no clock, so that equal results give equal pages."""
    paths = [paper.path(name) for paper in papers for name in (*paper.done(), *REPORTS)]
    times = [path.stat().st_mtime for path in paths if path.exists()]
    return f"{datetime.datetime.fromtimestamp(max(times), datetime.UTC):%d %B %Y, %H:%M} UTC" if times else ""


def _modified(commit: str) -> str:
    return ", with changes that are in no commit" if commit.endswith("-modified") else ""


def _machine(record: dict[str, object]) -> str:
    gpus = record.get("gpus") or "no"
    return f"{record.get('cpu')}, {record.get('system')} {record.get('architecture')}, {gpus} GPU"


def _listed(values: Iterable[str]) -> str:
    """Each different value once, the most frequent first."""
    return "; ".join(value for value, _ in Counter(value for value in values if value).most_common())


def _counted(values: Iterable[str]) -> str:
    return "; ".join(f"{value}: {count} files" for value, count in Counter(values).most_common())
