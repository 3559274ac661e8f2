"""Language models as a paper takes them: published ones as they are, random ones after a short pre-training."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reprlab.config.groups import WarmStart
from reprlab.config.load import LoadedConfig
from reprlab.planning import paths
from reprlab.planning.language_model_jobs import WHOLE, add_pretraining_run, add_scratch_text, add_tokens
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_model, add_tokenizer
from reprlab.settings.base import Course, derive
from reprlab.training.settings import (
    EngineSettings,
    OptimizerSettings,
    PretrainSettings,
    ScheduleSettings,
    UpdateSettings,
)


@dataclass(frozen=True)
class Start:
    """Where what the paper does with a model starts."""

    model: str
    """Folder of the language model."""
    made_in: str
    """Folder that a rule depends on: the model's, or that of the ladder it is a step of."""
    tokenizer: str

    def job(self, inputs: Mapping[str, str | list[str]], settings: Mapping[str, Any]) -> Job:
        """A job that reads the model; a step of a ladder lies inside the folder that its rule waits for."""
        if self.model == self.made_in:
            return Job({**inputs, "model": self.model}, settings)
        return Job({**inputs, "after": [self.made_in]}, {**settings, "model": self.model})


@dataclass(frozen=True)
class Recipe:
    """How random models are pre-trained."""

    warm: WarmStart
    setting: str
    """Dotted name of `warm`, for messages."""
    name: str
    """Name of passages, tokenizer and runs: the paper's own."""
    optimizer: UpdateSettings
    schedule: Course
    objective: str | None = "causal_lm"
    """None: the model stays random."""
    objective_settings: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the tokenizer beside its size."""


def add_start(plan: Plan, config: LoadedConfig, model: str, recipe: Recipe) -> Start:
    """Plan a language model and, where it is random, its pre-training.

    One that stays random reads with the tokenizer that its entry names, if it names one: a twin of a published model.

    Raises:
        ReprlabError: it is random and no corpus is named.
    """
    if config.models[model].origin.kind != "scratch":
        folder = add_model(plan, config, model, seed=0)
        return Start(folder, folder, folder)
    if recipe.objective is None and (lent := config.models[model].origin.tokenizer):
        folder = add_model(plan, config, model, seed=config.workflow.seed)
        return Start(folder, folder, add_tokenizer(plan, config, lent))
    name = recipe.name
    # One tokenizer for all random models of a paper.
    sentences, tokenizer = add_scratch_text(
        plan,
        config,
        recipe.warm.text,
        model,
        setting=f"{recipe.setting}.text",
        passages=name,
        tokenizer=name,
        **recipe.tokenizer,
    )
    initial = add_model(plan, config, model, seed=config.workflow.seed, tokenizer=tokenizer)
    if recipe.objective is None:
        return Start(initial, initial, tokenizer)
    run, settings = f"{name}_{model}", _pretraining(config, recipe, recipe.objective)
    tokens = add_tokens(plan, name, sentences, tokenizer, WHOLE)
    ladder = add_pretraining_run(plan, run, settings, tokens=tokens, tokenizer=tokenizer, init=initial)
    return Start(paths.checkpoint(run, settings.engine.steps), ladder, tokenizer)


def _pretraining(config: LoadedConfig, recipe: Recipe, objective: str) -> PretrainSettings:
    warm = recipe.warm
    engine = derive(
        EngineSettings,
        warm,
        ladder=[warm.steps],
        optimizer=derive(OptimizerSettings, recipe.optimizer, learning_rate=warm.learning_rate),
        schedule=ScheduleSettings(name=recipe.schedule, warmup_steps=min(warm.warmup_steps, warm.steps - 1)),
        seed=config.workflow.seed,
    )
    return PretrainSettings(
        objective=objective,
        objective_settings=dict(recipe.objective_settings),
        input_length=warm.length,
        target_length=warm.length,
        engine=engine,
    )
