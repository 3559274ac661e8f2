"""Checkpoints of each family: from the hub, from a package, or pre-trained here."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from reprlab.config.settings import derive
from reprlab.papers import paths
from reprlab.papers.completion_jobs import ModelFolders
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_model
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.machine import resolve_dtype
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.training.settings import (
    EngineSettings,
    EvaluationRun,
    EvaluationRuns,
    EvaluationSettings,
    PretrainSettings,
)

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.amuro_char import AmuroCharSettings, Family
    from reprlab.papers.amuro_char.plan_data import PromptPlanner

MAIN = "main"


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of a family."""

    models: ModelFolders
    tokenizer: str
    steps: dict[str, int]
    """Updates of pre-training, 0 where they are not known."""
    losses: str = ""
    """Held-out losses of a ladder that is trained here."""


def add_checkpoints(
    plan: Plan, config: "LoadedConfig", paper: "AmuroCharSettings", name: str, prompts: "PromptPlanner"
) -> Checkpoints:
    """Plan the checkpoints of a family."""
    family = paper.families[name]
    if config.models[family.model].origin.kind == "scratch":
        return _pretrained(plan, config, paper, name, prompts)
    folders = {}
    for place, checkpoint in enumerate(family.checkpoints):
        revision = family.revisions[place] if family.revisions else ""
        folders[checkpoint] = _published(plan, config, family, checkpoint, revision)
    steps = {checkpoint: _step(family, checkpoint) for checkpoint in family.checkpoints}
    return Checkpoints(ModelFolders(folders, list(folders.values())), folders[family.checkpoints[-1]], steps)


def resolved(config: "LoadedConfig", dtype: str) -> Literal["float32", "bfloat16"]:
    """The arithmetic of this machine where the setting is auto."""
    return resolve_dtype(config.numerics.dtype if dtype == "auto" else dtype, config.runtime.device)


def _step(family: "Family", checkpoint: str) -> int:
    return family.main_step if checkpoint == MAIN else int(checkpoint)


def _published(plan: Plan, config: "LoadedConfig", family: "Family", checkpoint: str, revision: str) -> str:
    entry = config.models[family.model]
    if not revision or entry.origin.kind != "hub":
        return add_model(plan, config, family.model, seed=config.workflow.seed)
    entry = entry.model_copy(update={"origin": entry.origin.model_copy(update={"revision": revision})})
    name = f"{family.model}_{checkpoint}"
    inputs: dict[str, str | list[str]] = {"tokenizer": "", "receipts": []}
    plan.add("build_model", name, Job(inputs=inputs, settings={"entry": entry, "seed": 0}))
    return paths.model(name)


def _pretrained(
    plan: Plan, config: "LoadedConfig", paper: "AmuroCharSettings", name: str, prompts: "PromptPlanner"
) -> Checkpoints:
    wanted, family = paper.pretraining, paper.families[name]
    steps = {checkpoint: wanted.steps if checkpoint == MAIN else int(checkpoint) for checkpoint in family.checkpoints}
    if sorted(set(steps.values())) != list(steps.values()) or max(steps.values()) > wanted.steps:
        raise ReprlabError(
            f"papers.amuro-char.families.{name}.checkpoints: {', '.join(steps)} must ascend within pretraining.steps "
            f"({wanted.steps})"
        )
    tokens, tokenizer = _tokens(plan, paper, prompts.sentences(wanted.corpus))
    run = f"amuro_char_{name}"
    settings = _run_settings(config, paper, list(steps.values()))
    init = add_model(plan, config, family.model, seed=wanted.seed, tokenizer=tokenizer)
    plan.add(
        "pretrain_lm",
        run,
        Job(
            inputs={"tokens": tokens, "tokenizer": tokenizer, "init": init},
            settings={"settings": settings},
            plugins=("objectives.causal_lm",),
        ),
    )
    losses = _add_losses(plan, paper, run, settings, tokens, tokenizer, list(steps.values()))
    folders = {checkpoint: paths.checkpoint(run, step) for checkpoint, step in steps.items()}
    return Checkpoints(ModelFolders(folders, [paths.pretrained(run)]), tokenizer, steps, losses)


def _tokens(plan: Plan, paper: "AmuroCharSettings", sentences: str) -> tuple[str, str]:
    """Token ids and tokenizer of the corpus."""
    wanted = paper.pretraining
    name = f"amuro_char_{wanted.corpus}"
    # A decoder has no use for sentinels and sentence tokens: one of each is the least that the layout has.
    tokenizer = TokenizerSettings(source="trained_bytes", pieces=wanted.pieces, sentinels=1, sentence_tokens=1)
    job = Job(inputs={"sentences": sentences}, settings={"settings": tokenizer})
    plan.add("train_tokenizer", name, job)
    # Packed later: no text is cut here.
    storage = TokenStorageSettings(format="causal", max_length=1 << 20)
    inputs: dict[str, str | list[str]] = {"sentences": sentences, "tokenizer": paths.tokenizer(name)}
    plan.add("tokenize_corpus", name, Job(inputs=inputs, settings={"settings": storage}))
    return paths.tokens(name), paths.tokenizer(name)


def _run_settings(config: "LoadedConfig", paper: "AmuroCharSettings", ladder: list[int]) -> PretrainSettings:
    wanted = paper.pretraining
    return PretrainSettings(
        objective="causal_lm",
        input_length=wanted.context,
        target_length=wanted.context,
        packing=True,
        engine=derive(
            EngineSettings,
            wanted,
            ladder=ladder,
            schedule=wanted.schedule.model_copy(
                update={"warmup_steps": min(wanted.schedule.warmup_steps, wanted.steps - 1)}
            ),
            dtype=resolved(config, wanted.dtype),
        ),
    )


def _add_losses(
    plan: Plan,
    paper: "AmuroCharSettings",
    run: str,
    trained: PretrainSettings,
    tokens: str,
    tokenizer: str,
    steps: list[int],
) -> str:
    settings = EvaluationSettings(
        **trained.model_dump(exclude={"engine", "init_step"}),
        batches=paper.pretraining.evaluation_batches,
        batch_size=trained.engine.batch_size,
        dtype=trained.engine.dtype,
    )
    evaluated = EvaluationRun(
        name=run, ladder=Path(paths.pretrained(run)), steps=steps, tokens=Path(tokens), settings=settings
    )
    plan.add(
        "evaluate_lm",
        run,
        Job(
            inputs={"after": [paths.pretrained(run), tokens], "tokenizer": tokenizer},
            settings={"runs": EvaluationRuns(runs=[evaluated])},
            plugins=("objectives.causal_lm",),
        ),
    )
    return paths.evaluation(run)
