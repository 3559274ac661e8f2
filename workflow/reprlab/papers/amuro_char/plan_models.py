"""Checkpoints of each family: from the hub, from a package, or pre-trained here."""

from dataclasses import dataclass

from reprlab.config.load import LoadedConfig
from reprlab.models.merging import WAYS as MERGES
from reprlab.models.merging import MergeSettings
from reprlab.papers.amuro_char.names import MAIN
from reprlab.papers.amuro_char.plan_data import PromptPlanner
from reprlab.papers.amuro_char.schema import AmuroCharSettings, Family
from reprlab.planning import paths
from reprlab.planning.completion_jobs import ModelFolders
from reprlab.planning.language_model_jobs import (
    add_held_out,
    add_pretraining_run,
    add_tokens,
    add_trained_tokenizer,
    held_out,
)
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_model
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.training.settings import EngineSettings, PretrainSettings


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
    plan: Plan, config: LoadedConfig, paper: AmuroCharSettings, name: str, prompts: PromptPlanner
) -> Checkpoints:
    """Plan the checkpoints of a family."""
    family = paper.families[name]
    if config.models[family.model].origin.kind == "scratch":
        return _pretrained(plan, config, paper, name, prompts)
    revisions = family.revisions or [""] * len(family.checkpoints)
    folders = {
        checkpoint: _published(plan, config, family, checkpoint, revision)
        for checkpoint, revision in zip(family.checkpoints, revisions, strict=True)
    }
    models = ModelFolders(folders, list(folders.values()))
    return Checkpoints(models, folders[family.checkpoints[-1]], _steps(family, family.main_step))


def add_readapted(
    plan: Plan,
    tuned: tuple[str, ModelFolders],
    ladder: ModelFolders,
    ends: tuple[str, str],
    way: str,
    rank: int | None,
) -> ModelFolders:
    """Plan the last checkpoint of a ladder with what fine-tuning changed of an earlier one; returns it by its name.

    Args:
        tuned: key (family/training set/group) and models of the fine-tuning of the earlier one.
        ends: the earlier checkpoint and the last one.
        rank: singular values of each matrix's change that are kept; None: all.
    """
    (start, last), (key, models) = ends, tuned
    family, train, _ = key.split("/")
    # The arithmetic is exact only if its result is not rounded: float32, as checkpoints are kept.
    settings = MergeSettings(method="re_adapt", options={"rank": rank}, dtype="float32")
    of_ladder = ladder.only(ends)
    given = {"first": models.folders[start], "second": of_ladder.folders[last], "base": of_ladder.folders[start]}
    job = Job(
        {"after": [*models.sources, *of_ladder.sources]},
        {**given, "settings": settings},
        plugins=(f"{MERGES}.{settings.method}",),
    )
    folder = plan.add("merge_models", f"amuro_char_{family}_{train}_{way}", job)["out"]
    return ModelFolders({last: folder}, [folder])


def _steps(family: Family, last: int) -> dict[str, int]:
    return {checkpoint: last if checkpoint == MAIN else int(checkpoint) for checkpoint in family.checkpoints}


def _published(plan: Plan, config: LoadedConfig, family: Family, checkpoint: str, revision: str) -> str:
    entry = config.models[family.model]
    if not revision or entry.origin.kind != "hub":
        return add_model(plan, config, family.model, seed=config.workflow.seed)
    entry = entry.model_copy(update={"origin": entry.origin.model_copy(update={"revision": revision})})
    entry = entry.pinned(config.commits)
    job = Job({"tokenizer": "", "receipts": []}, {"entry": entry, "seed": 0})
    return plan.add("build_model", f"{family.model}_{checkpoint}", job)["out"]


def _pretrained(
    plan: Plan, config: LoadedConfig, paper: AmuroCharSettings, name: str, prompts: PromptPlanner
) -> Checkpoints:
    wanted, family = paper.pretraining, paper.families[name]
    steps = _steps(family, wanted.steps)
    ladder = list(steps.values())
    if sorted(set(ladder)) != ladder or max(ladder) > wanted.steps:
        raise ReprlabError(
            f"papers.amuro-char.families.{name}.checkpoints: {', '.join(steps)} must ascend within pretraining.steps "
            f"({wanted.steps})"
        )
    text, sentences = f"amuro_char_{wanted.corpus}", prompts.sentences(wanted.corpus)
    # A decoder has no use for sentinels and sentence tokens: one of each is the least that the layout has.
    layout = TokenizerSettings(source="trained_bytes", pieces=wanted.pieces, sentinels=1, sentence_tokens=1)
    tokenizer = add_trained_tokenizer(plan, text, sentences, layout)
    # Packed later: no text is cut here.
    tokens = add_tokens(plan, text, sentences, tokenizer, TokenStorageSettings(format="causal", max_length=1 << 20))
    warmup_steps = min(wanted.schedule.warmup_steps, wanted.steps - 1)
    settings = PretrainSettings(
        objective="causal_lm",
        input_length=wanted.context,
        target_length=wanted.context,
        packing=True,
        engine=derive(
            EngineSettings,
            wanted,
            ladder=ladder,
            schedule=wanted.schedule.model_copy(update={"warmup_steps": warmup_steps}),
            dtype=config.arithmetic(wanted.dtype),
        ),
    )
    run = f"amuro_char_{name}"
    init = add_model(plan, config, family.model, seed=wanted.seed, tokenizer=tokenizer)
    source = add_pretraining_run(plan, run, settings, tokens=tokens, tokenizer=tokenizer, init=init)
    evaluated = held_out(run, run, settings, ladder, tokens, batches=wanted.evaluation_batches)
    losses = add_held_out(plan, run, [evaluated], tokenizer)
    folders = {checkpoint: paths.checkpoint(run, step) for checkpoint, step in steps.items()}
    return Checkpoints(ModelFolders(folders, [source]), tokenizer, steps, losses)
