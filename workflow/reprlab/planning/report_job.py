"""The job that gathers all papers: the report and the summary."""

from typing import TYPE_CHECKING

from reprlab.config.resolved import changes, settings_file
from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

STAGE = "write_report"
REPORT = paths.output(STAGE, "out", paths.ONLY)


def add_report(plan: Plan, config: "LoadedConfig", neighbours: str) -> None:
    """Plan the report of the papers that the config builds; `neighbours` is the table of theirs."""
    papers = list(config.workflow.build)
    by_paper = {paper: _needed_jobs(plan, [paper]) for paper in papers}
    needed = {maker: edges for jobs in by_paper.values() for maker, edges in jobs.items()}
    archives = [key for key in plan.jobs.get("fetch_archive", {}) if ("fetch_archive", key) in needed]
    words_of = [f"resources/published/{paper}/results.yaml" for paper in papers]
    plan.add(
        STAGE,
        paths.ONLY,
        Job(
            inputs={
                "after": [path for paper in papers for path in plan.targets[paper]],
                "receipts": [paths.receipt(archive) for archive in archives],
                "neighbours": neighbours,
            },
            settings={
                "papers": [f"results/{paper}" for paper in papers],
                "scale": config.scale,
                "licences": [[archive, config.datasets.archives[archive].licence] for archive in archives],
                "edges": [list(edge) for edge in sorted({edge for edges in needed.values() for edge in edges})],
                "changes": changes(config),
            },
            # Its captions; the rest of it is among the settings of gathering.
            files={"after": [words for words in words_of if (config.root / words).is_file()]},
            neutral={
                "command": f"snakemake --cores 2 --configfile {settings_file(config)} -- {REPORT}",
                "needed": [
                    [paper, file]
                    for paper, jobs in by_paper.items()
                    for file in sorted(paths.benchmark(*maker).removeprefix("results/benchmarks/") for maker in jobs)
                ],
            },
            plugins=tuple(f"papers.{paper.replace('-', '_')}.about" for paper in papers),
        ),
    )


def _needed_jobs(plan: Plan, papers: list[str]) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """The jobs that the papers' results need, by stage and key; each with its edges between stages, from the one that
    makes a file to the one that reads it."""
    makers = plan.makers()
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    waiting = [path for paper in papers for path in plan.targets[paper]]
    while waiting:
        stage, key = maker = makers.get(waiting.pop(), ("", ""))
        if not stage or maker in found:
            continue
        edges = found[maker] = set()
        for value in plan.jobs[stage][key].inputs.values():
            for source in value if isinstance(value, list) else [value]:
                if source in makers:
                    edges.add((makers[source][0], stage))
                    waiting.append(source)
    return found
