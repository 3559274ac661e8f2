"""The jobs of one paper's results, from its records and from the sources that its planner registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.papers import paths
from reprlab.papers.plan import Job, Plan
from reprlab.papers.published_jobs import audit_job, published_files

if TYPE_CHECKING:
    from reprlab.results.records import PaperResults
    from reprlab.results.sources import Missing, Source


def add_results(
    plan: Plan,
    slug: str,
    results: PaperResults,
    entries: Sequence[Source | Missing],
    *,
    root: Path,
    scale: str,
    options: Mapping[str, Any],
) -> None:
    """Plan the gathering, every table and figure, comparison, audit and claims, and make them targets of the paper.

    `root` is the checkout.

    Raises:
        ReprlabError: a record or an entry names a column, a factor's value or a metric that the paper does not declare.
    """
    results.check(slug, entries)
    settings = results.settings(scale, list(entries), options)
    # Without what has its default: hundreds of sources stand in it.
    short = settings.model_dump(mode="json", exclude_defaults=True)
    inputs = [str(path) for path in settings.paths()]
    plan.add("gather_results", slug, Job(inputs={"inputs": inputs}, settings={"settings": short}))
    frame, plugins = [paths.result(slug, "results.parquet")], (f"papers.{slug.replace('-', '_')}.results",)
    given = Job(inputs={"inputs": frame}, settings={"layout": ""}, plugins=plugins)
    for table in results.tables:
        plan.add("tabulate_paper", f"{slug}/{table.name}", given)
    plan.add("test_claims", slug, given)
    files = {"published": published_files(root, slug)}
    read = Job(inputs={"tables": frame}, settings={"scale": scale}, plugins=plugins, files=files)
    plan.add("compare_published", slug, read)
    for figure in results.figures:
        plan.add("plot_figure", f"{slug}/{figure.name}", read)
    plan.add("audit_paper", slug, audit_job(root, slug, plugins[0].replace(".results", ".audit")))
    plan.add_targets(slug, [paths.result(slug, f"{table.name}.tsv") for table in results.tables])
    plan.add_targets(slug, [paths.result(slug, f"{name}.tsv") for name in ("comparison", "audit", "claims")])
    plan.add_targets(slug, [paths.result(slug, f"{figure.name}.png") for figure in results.figures])
