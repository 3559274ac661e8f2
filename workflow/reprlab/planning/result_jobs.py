"""The jobs of one paper's results, from its records and from the sources that its planner registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan
from reprlab.planning.published_jobs import COSTS, PUBLISHED, audit_job, published_files
from reprlab.plugins import has_plugin
from reprlab.results.words import LABELS, METRICS

if TYPE_CHECKING:
    from reprlab.results.records import PaperResults
    from reprlab.results.sources import GatherSettings, Missing, Source


def add_results(
    plan: Plan,
    slug: str,
    results: PaperResults,
    entries: Sequence[Source | Missing],
    *,
    root: Path,
    scale: str,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Plan the gathering, tables and figures, and comparison, claims and audit where the paper has them, as targets.

    `root` is the checkout; `options` are settings that tables must know.

    Raises:
        ReprlabError: a record or an entry names a column, a factor's value or a metric that the paper does not declare.
    """
    results.check(slug, entries)
    settings = results.settings(scale, list(entries), options or {})
    short = _Shortened()
    plan.add("gather_results", slug, short.gathering(settings, "settings"))
    plugins = (f"papers.{slug.replace('-', '_')}.results",)
    # Selections and columns take names from it, and no code says so.
    keyed = {"after": keys} if (root / (keys := f"{PUBLISHED}/{slug}/printed.yaml")).is_file() else {}
    judged: dict[str, Job] = {}
    for table in results.tables:
        # A table is made of its own sources: asking for one does not run what the others need.
        part = settings.narrowed({name: table.choices(name, settings.options) for name in table.where})
        tabulated = replace(short.gathering(part, "gather", plugins), files=keyed)
        plan.add("tabulate_paper", f"{slug}/{table.name}", tabulated)
        judged[table.name] = replace(tabulated, inputs={**tabulated.inputs, **_items(part)})
    frame = [paths.result(slug, "results.parquet")]
    if results.claims:
        scored: dict[str, Any] = {"inputs": frame, **_items(settings)}
        plan.add("test_claims", slug, Job(inputs=scored, plugins=plugins, files=keyed))
    files = {"published": published_files(root, slug)}
    read = Job(inputs={"tables": frame}, settings={"scale": scale}, plugins=plugins, files=files)
    if results.printed:
        costs = {"costs": path} if (root / (path := f"{COSTS}/{slug}.tsv")).is_file() else {}
        plan.add("compare_published", slug, replace(read, files={**files, **costs}))
    worded = (keys, f"{PUBLISHED}/{slug}/results.yaml", f"{PUBLISHED}/{LABELS}", f"{PUBLISHED}/{METRICS}")
    shown = replace(read, files={**files, "after": [path for path in worded if (root / path).is_file()]})
    for figure in results.figures:
        inputs = {"tables": [paths.result(slug, f"{figure.table}.tsv")]}
        # The claim of a title is judged on the rows of the table, at hand wherever the table is.
        claimed = judged[figure.table] if figure.claim else Job()
        settled = {**claimed.settings, **shown.settings}
        drawn = replace(shown, inputs={**claimed.inputs, **inputs}, settings=settled)
        plan.add("plot_figure", f"{slug}/{figure.name}", drawn)
    if has_plugin("papers", f"{slug}.audit"):
        plan.add("audit_paper", slug, audit_job(root, slug, plugins[0].replace(".results", ".audit")))
    plan.add_targets(slug, frame)
    plan.add_targets(slug, [paths.result(slug, f"{table.name}.tsv") for table in results.tables])
    further = {"compare_published": "comparison", "audit_paper": "audit", "test_claims": "claims"}
    made = [name for stage, name in further.items() if slug in plan.jobs.get(stage, {})]
    plan.add_targets(slug, [paths.result(slug, f"{name}.tsv") for name in made])
    plan.add_targets(slug, [paths.result(slug, f"{figure.name}.png") for figure in results.figures])


def _items(settings: GatherSettings) -> dict[str, list[str]]:
    """The files with the items behind scores, which a frame names and claims on it read."""
    found = [str(path) for path in settings.items()]
    return {"after": found} if found else {}


class _Shortened:
    """Settings of gathering without defaults: hundreds of entries are in them, and again in those of each table."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def gathering(self, settings: GatherSettings, name: str, plugins: tuple[str, ...] = ()) -> Job:
        short = settings.model_dump(mode="json", exclude_defaults=True, exclude={"entries"})
        entries = [self._short(entry) for entry in settings.entries]
        return Job(
            inputs={"inputs": [str(path) for path in settings.paths()]},
            settings={name: {**short, "entries": entries}},
            plugins=plugins,
        )

    def _short(self, entry: Source | Missing) -> Any:
        # By identity: a table's entries are some of the paper's, which live as long as its settings.
        if (found := self._known.get(id(entry))) is None:
            found = self._known[id(entry)] = entry.model_dump(mode="json", exclude_defaults=True)
        return found
