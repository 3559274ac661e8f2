"""The job that gathers the neighbours of all papers in one table."""

from collections.abc import Sequence

from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan
from reprlab.results.frame import choices
from reprlab.results.neighbours import Cell, Neighbour, NeighbourSettings, Side
from reprlab.results.records import has_neighbours, records_of
from reprlab.results.sources import GatherSettings, Source, Value
from reprlab.runtime.plan_file import paths_of

STAGE = "gather_neighbours"


def add_neighbours(plan: Plan, build: Sequence[str]) -> str:
    """Plan the table of the neighbours of the papers that the config builds; it has no row where none declares any.

    Returns:
        its path; "" where one of the papers that declare some is not planned, and so is the table not.
    """
    planned = [slug for slug in build if slug in plan.targets]
    # In an order that settings keep as well: a frame stands for a paper by its place.
    declaring = sorted(slug for slug in planned if has_neighbours(slug))
    # Records of papers that are not planned are loaded where it depends on them alone.
    others = [slug for slug in build if slug not in planned]
    if others and (not declaring or any(map(has_neighbours, others))):
        return ""
    gathered = {
        slug: GatherSettings.model_validate_json(plan.jobs["gather_results"][slug].settings["settings"])
        for slug in declaring
    }
    costs = _Costs(plan)
    cells = {
        slug: {one.id: costs.cells(settings, one) for one in records_of(slug).neighbours}
        for slug, settings in gathered.items()
    }
    items = [str(path) for settings in gathered.values() for path in settings.items()]
    job = Job(
        inputs={"frames": [paths.result(slug, "results.parquet") for slug in declaring], "after": items},
        settings={"settings": NeighbourSettings(papers=cells)},
        plugins=tuple(f"papers.{slug.replace('-', '_')}.results" for slug in declaring),
    )
    return plan.add(STAGE, paths.ONLY, job)["out"]


class _Costs:
    """The jobs of a plan that rows of neighbours cost."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.makers = plan, plan.makers()

    def cells(self, settings: GatherSettings, one: Neighbour) -> list[Cell]:
        """A row for each combination of the factors that the rival's sources name; one row where nothing is planned."""
        rivals = settings.entries_of(_where(one.rival, settings))
        named = [entry.factors for entry in rivals if set(one.by) <= entry.factors.keys()]
        combinations = dict.fromkeys(tuple((name, factors[name]) for name in one.by) for factors in named)
        return [
            Cell(
                at=dict(at),
                method=self._benchmarks(settings, one, one.method, at),
                rival=self._benchmarks(settings, one, one.rival, at),
            )
            for at in combinations or [()]
        ]

    def _benchmarks(
        self, settings: GatherSettings, one: Neighbour, side: Side, at: Sequence[tuple[str, Value]]
    ) -> list[str]:
        """Benchmark files of the jobs of the neighbour's stages behind a side's rows."""
        where = {**_where(side, settings), **{name: [value] for name, value in at}}
        waiting = [str(entry.path) for entry in settings.entries_of(where) if isinstance(entry, Source)]
        found: set[tuple[str, str]] = set()
        while waiting:
            maker = self.makers.get(waiting.pop())
            if maker is not None and maker not in found:
                found.add(maker)
                waiting += paths_of(self.plan.jobs[maker[0]][maker[1]].inputs)
        files = (paths.benchmark(*maker) for maker in found if maker[0] in one.stages)
        return sorted(file.removeprefix("results/benchmarks/") for file in files)


def _where(side: Side, settings: GatherSettings) -> dict[str, list[Value]]:
    return {name: choices(wanted, settings.options) for name, wanted in side.where.items()}
