"""Language models as rerankers start from them: published ones as they are, random ones warmed up on text and spans."""

from reprlab.config.load import LoadedConfig
from reprlab.papers.ssm_rerankers.schema import Reranker, Spans, SsmRerankersSettings
from reprlab.planning import warm_starts
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_task
from reprlab.planning.warm_starts import Recipe, Start
from reprlab.retrieval.read_orders import Order
from reprlab.retrieval.rerank_settings import PairSettings, RerankerTraining
from reprlab.retrieval.spans import SpanSettings
from reprlab.settings.base import Course, derive
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

_NAME = "ssm_rerankers"
# The objective of a random model's warm start; other architectures are trained to rerank from random weights.
_OBJECTIVES = {"bert_mlm": "masked_lm"} | dict.fromkeys(("opt", "llama", "mamba", "mamba2"), "causal_lm")


def add_start(plan: Plan, config: LoadedConfig, paper: SsmRerankersSettings, model: str) -> Start:
    """Plan a language model and, where it is random, its warm start.

    Raises:
        ReprlabError: it is random and no corpus is named.
    """
    objective = _OBJECTIVES.get(config.models[model].architecture) if paper.warm_start.language_model else None
    masked = {"mask_probability": paper.warm_start.mask_probability} if objective == "masked_lm" else {}
    recipe = Recipe(
        warm=paper.warm_start,
        setting="papers.ssm-rerankers.warm_start",
        name=_NAME,
        optimizer=paper.training.optimizer,
        schedule=paper.training.schedule,
        objective=objective,
        objective_settings=masked,
        # One sentinel: the mask of an encoder.
        tokenizer={"sentinels": 1, "sentence_tokens": 1},
    )
    return warm_starts.add_start(plan, config, model, recipe)


def add_ranking_start(
    plan: Plan, config: LoadedConfig, paper: SsmRerankersSettings, name: str, order: Order = "once"
) -> Start:
    """Plan what a reranker starts from: its language model and, where that is random, training on spans of passages,
    which are read in its own order."""
    reranker, seed = paper.rerankers[name], config.workflow.seed
    start, dataset = add_start(plan, config, paper, reranker.model), str(paper.passages.dataset)
    for stage, spans in stages_on_spans(config, paper, reranker).items():
        drawn = derive(SpanSettings, spans, seed=seed)
        examples = Job({"examples": add_task(plan, config, dataset)}, {"settings": drawn})
        built = plan.add("build_span_queries", f"{dataset}/{_NAME}_{stage}", examples)
        settings = derive(
            RerankerTraining,
            paper.training,
            spans,
            pairs=derive(PairSettings, reranker, spans, encoder_cls=name in paper.encoder_cls),
            engine=ranking_engine(config, paper, spans, spans.schedule),
            judged_negatives=False,
            head_factor=1.0,
            seeds=[seed],
        )
        inputs = {"examples": built["out"], "run": built["run"], "tokenizer": start.tokenizer}
        job = start.job(inputs, {"settings": settings, **in_order(order)})
        made = plan.add("train_reranker", f"{name}/{dataset}/spans_{stage}{end_of(order)}", job)["out"]
        start = Start(f"{made}/seed-{seed}", made, start.tokenizer)
    return start


def in_order(order: Order) -> dict[str, Order]:
    """The setting of a stage that reads pairs in an order; that of the template needs none."""
    return {} if order == "once" else {"order": order}


def end_of(order: Order) -> str:
    """End of the name of what is made in an order."""
    return "" if order == "once" else f"_{order}"


def stages_on_spans(config: LoadedConfig, paper: SsmRerankersSettings, reranker: Reranker) -> dict[str, Spans]:
    """The stages that a random model goes through; none of a published one."""
    return paper.warm_start.spans if config.models[reranker.model].origin.kind == "scratch" else {}


def ranking_engine(
    config: LoadedConfig, paper: SsmRerankersSettings, own: Reranker | Spans, schedule: Course
) -> EngineSettings:
    """The loop of a training on groups, whose steps follow from its passes."""
    recipe = paper.training
    return derive(
        EngineSettings,
        recipe,
        own,
        steps=1,
        optimizer=derive(OptimizerSettings, recipe.optimizer, own),
        schedule=ScheduleSettings(name=schedule),
        dtype=config.arithmetic(paper.dtype),
        log_every=10,
    )
