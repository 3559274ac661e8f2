"""Plan of state-space rerankers: first stages, rerankers at each length, their scores and their speed."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from reprlab.papers.ssm_rerankers.plan_lists import ListJobs
from reprlab.papers.ssm_rerankers.plan_models import add_start
from reprlab.papers.ssm_rerankers.plan_tasks import SLUG, TaskJobs, factors_of
from reprlab.papers.ssm_rerankers.results import RESULTS, SPEED
from reprlab.papers.ssm_rerankers.schema import Family
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Plan
from reprlab.planning.result_jobs import add_results
from reprlab.results.sources import Missing, Source
from reprlab.retrieval.rerank_speed import SpeedSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.ssm_rerankers.schema import SsmRerankersSettings, Task

_TASKS = ("passages", "documents")
# The paper's families that are called otherwise than the architecture.
_FAMILIES = {"bert_mlm": "bert", "mamba": "mamba1"}
_NO_DOCUMENTS = "no documents are named: set papers.ssm-rerankers.documents.dataset"


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    for reranker in dict.fromkeys((*paper.compared, *paper.speed.models, *paper.neighbours.first.models)):
        _check_family(config, paper, reranker)
    entries: list[Source | Missing] = []
    for name in _TASKS:
        task: Task = getattr(paper, name)
        if task.dataset is None:
            entries.append(Missing(factors={"part": "document"}, reason=_NO_DOCUMENTS))
            continue
        jobs = TaskJobs(plan, config, paper, name, task)
        entries += jobs.retrieval()
        for reranker in paper.compared:
            entries += jobs.reranking(reranker)
        if name == "passages":
            entries += [*jobs.read_in_other_orders(), *ListJobs(plan, config, paper).all()]
    for reranker in paper.speed.models:
        entries.append(_speed(plan, config, paper, reranker))
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale)
    add_cost(plan, config, SLUG)


def _check_family(config: "LoadedConfig", paper: "SsmRerankersSettings", name: str) -> None:
    """Refuse a model of another family than the one that tables and claims would call it."""
    reranker = paper.rerankers[name]
    architecture = config.models[reranker.model].architecture
    family = _FAMILIES.get(architecture, architecture)
    if family != reranker.family:
        known = get_args(Family)
        remedy = f"set {{family: {family}}} beside it" if family in known else f"name one of {', '.join(known)}"
        raise ReprlabError(
            f"papers.{SLUG}.rerankers.{name}.model: {reranker.model} is of the family {family}, and family says "
            f"{reranker.family}; {remedy}"
        )


def _speed(plan: Plan, config: "LoadedConfig", paper: "SsmRerankersSettings", name: str) -> Source:
    """Speed and operators of one model, from weights that nothing has trained further."""
    reranker, speed = paper.rerankers[name], paper.speed
    lengths = speed.lengths if reranker.long else speed.lengths[:1]
    # State spaces have no attention; others have PyTorch's fused one where nothing else is said.
    attention = [] if reranker.family.startswith("mamba") else speed.attention.get(reranker.family, ["sdpa"])
    settings = derive(
        SpeedSettings,
        speed,
        template=reranker.template,
        lengths=lengths,
        attention=attention,
        dtype=config.arithmetic(speed.dtype),
        encoder_cls=name in paper.encoder_cls,
    )
    start = add_start(plan, config, paper, reranker.model)
    path = Path(plan.add("measure_rerankers", f"{name}/speed", start.job({}, {"settings": settings}))["out"])
    where: dict[str, Any] = {"attention": attention or ["none"]}
    keys = {name: name for name in ("length", "batch", "operator", "attention", "dtype", "kernels", "device")}
    return Source(
        path=path, factors={**factors_of(paper, name), "part": SPEED}, keys=keys, where=where, data="random tokens"
    )
