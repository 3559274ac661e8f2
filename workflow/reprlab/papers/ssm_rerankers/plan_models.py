"""Language models before they rerank: published ones as they are, random ones warmed up on their own objective."""

from dataclasses import dataclass

from reprlab.config.load import LoadedConfig
from reprlab.config.papers.ssm_rerankers import SsmRerankersSettings
from reprlab.config.settings import derive
from reprlab.papers import paths
from reprlab.papers.language_model_jobs import add_pretraining_run, add_scratch_text, add_tokens
from reprlab.papers.plan import Plan
from reprlab.papers.shared_jobs import add_model
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings, PretrainSettings, ScheduleSettings

_NAME = "ssm_rerankers"
# The objective of a random model's warm start; other architectures are trained to rerank from random weights.
_OBJECTIVES = {"bert_mlm": "masked_lm"} | dict.fromkeys(("opt", "llama", "mamba", "mamba2"), "causal_lm")


@dataclass(frozen=True)
class Start:
    """Where the training of a reranker starts."""

    model: str
    """Folder of the language model."""
    made_in: str
    """Folder that a rule depends on: the model's, or that of the ladder it is a step of."""
    tokenizer: str


def add_start(plan: Plan, config: LoadedConfig, paper: SsmRerankersSettings, model: str) -> Start:
    """Plan a language model and, where it is random, its warm start.

    Raises:
        ReprlabError: it is random and no corpus is named.
    """
    if config.models[model].origin.kind != "scratch":
        folder = add_model(plan, config, model, seed=0)
        return Start(folder, folder, folder)
    # One tokenizer for all random models; one sentinel: the mask of an encoder.
    sentences, tokenizer = add_scratch_text(
        plan,
        config,
        paper.warm_start.text,
        model,
        setting="papers.ssm-rerankers.warm_start.text",
        passages=_NAME,
        tokenizer=_NAME,
        sentinels=1,
        sentence_tokens=1,
    )
    initial = add_model(plan, config, model, seed=config.workflow.seed, tokenizer=tokenizer)
    objective = _OBJECTIVES.get(config.models[model].architecture)
    if objective is None:
        return Start(initial, initial, tokenizer)
    run, settings = f"{_NAME}_{model}", _pretraining(config, paper, objective)
    # Rows are cut by the run, not here: one file serves all.
    storage = TokenStorageSettings(format="causal", max_length=1 << 20)
    tokens = add_tokens(plan, _NAME, sentences, tokenizer, storage)
    ladder = add_pretraining_run(plan, run, settings, tokens=tokens, tokenizer=tokenizer, init=initial)
    return Start(paths.checkpoint(run, settings.engine.steps), ladder, tokenizer)


def _pretraining(config: LoadedConfig, paper: SsmRerankersSettings, objective: str) -> PretrainSettings:
    wanted = paper.warm_start
    masked = {"mask_probability": wanted.mask_probability} if objective == "masked_lm" else {}
    optimizer = derive(OptimizerSettings, paper.training.optimizer, learning_rate=wanted.learning_rate)
    schedule = ScheduleSettings(name=paper.training.schedule, warmup_steps=min(wanted.warmup_steps, wanted.steps - 1))
    engine = derive(
        EngineSettings,
        wanted,
        ladder=[wanted.steps],
        optimizer=optimizer,
        schedule=schedule,
        seed=config.workflow.seed,
    )
    return PretrainSettings(
        objective=objective,
        objective_settings=masked,
        input_length=wanted.length,
        target_length=wanted.length,
        engine=engine,
    )
