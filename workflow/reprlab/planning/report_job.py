"""The job that gathers all papers: the report and the summary."""

from typing import TYPE_CHECKING

from reprlab.config.resolved import changes, settings_file
from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

STAGE = "write_report"
REPORT = paths.output(STAGE, "out", paths.ONLY)


def add_report(plan: Plan, config: "LoadedConfig") -> None:
    """Plan the report of the papers that the config builds."""
    papers = list(config.workflow.build)
    archives = list(plan.jobs.get("fetch_archive", {}))
    plan.add(
        STAGE,
        paths.ONLY,
        Job(
            inputs={
                "after": [path for paper in papers for path in plan.targets[paper]],
                "receipts": [paths.receipt(archive) for archive in archives],
            },
            settings={
                "papers": [f"results/{paper}" for paper in papers],
                "scale": config.scale,
                "licences": [[archive, config.datasets.archives[archive].licence] for archive in archives],
                "edges": stage_graph(plan, papers),
                "changes": changes(config),
            },
            neutral={"command": f"snakemake --cores 2 --configfile {settings_file(config)} -- {REPORT}"},
            plugins=tuple(f"papers.{paper.replace('-', '_')}.about" for paper in papers),
        ),
    )


def stage_graph(plan: Plan, papers: list[str]) -> list[list[str]]:
    """The edges between stages that the papers' results need, each from the stage that makes a file to its reader."""
    makers = {
        path: (stage, job)
        for stage, jobs in plan.jobs.items()
        for key, job in jobs.items()
        for path in paths.outputs(stage, key).values()
    }
    waiting, seen, edges = [path for paper in papers for path in plan.targets[paper]], set(), set()
    while waiting:
        path = waiting.pop()
        if path in seen or path not in makers:
            continue
        seen.add(path)
        stage, job = makers[path]
        for value in job.inputs.values():
            for source in value if isinstance(value, list) else [value]:
                if source in makers:
                    edges.add((makers[source][0], stage))
                    waiting.append(source)
    return [list(edge) for edge in sorted(edges)]
