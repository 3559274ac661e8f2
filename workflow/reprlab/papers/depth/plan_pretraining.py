"""DEPTH's pre-training runs: T5 and DEPTH, from scratch and continued, and the side experiments."""

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.papers import paths
from reprlab.papers.depth.names import Ladder, number_name, run_name
from reprlab.papers.depth.plan_text import Text, add_text
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_model
from reprlab.runtime.machine import resolve_dtype
from reprlab.stages.preview_corruption import PreviewSettings
from reprlab.training.settings import (
    EngineSettings,
    EvaluationRun,
    EvaluationRuns,
    EvaluationSettings,
    OptimizerSettings,
    PretrainSettings,
    ScheduleSettings,
)

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.depth import DepthSettings


@dataclass(frozen=True)
class Evaluated:
    """Where the validation losses of a run are."""

    table: str
    """Path of the table."""
    run: str
    """Name of its rows."""


@dataclass(frozen=True)
class Variant:
    """A run of a side experiment, with what it varies."""

    name: str
    objective: str
    seed: int
    label: str
    packing: bool
    learning_rate: float
    batch_size: int
    evaluation: "Evaluated"
    """The validation losses that speak for it."""


@dataclass(frozen=True)
class Pretrained:
    """What later stages need to know of pre-training."""

    text: Text
    ladders: list[Ladder]
    random_models: dict[int, str]
    """Folder of the random initial model by seed."""
    evaluated: dict[str, Evaluated]
    """Validation losses by run."""
    packing_lr: list[Variant] = field(default_factory=list)
    sentence_weight: list[Variant] = field(default_factory=list)
    padding_in_loss: list[Variant] = field(default_factory=list)
    int8_bug: list[Variant] = field(default_factory=list)


def add_pretraining(plan: Plan, config: "LoadedConfig", paper: "DepthSettings") -> Pretrained:
    """Plan text, models, runs and their validation losses."""
    text = add_text(plan, config, paper)
    planner = _Planner(plan, config, paper, text)
    for seed in paper.pretraining.seeds:
        planner.add_model(seed)
        for init in ("fs", "cpt"):
            for objective in paper.pretraining.objectives:
                planner.add_main_run(objective, init, seed)
    variants = {
        "packing_lr": planner.packing_lr(),
        "sentence_weight": planner.sentence_weight(),
        "padding_in_loss": planner.padding_in_loss(),
        "int8_bug": planner.int8_bug(),
    }
    planner.add_evaluations()
    planner.add_previews()
    return Pretrained(
        text=text, ladders=planner.ladders, random_models=planner.models, evaluated=planner.evaluated, **variants
    )


class _Planner:
    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "DepthSettings", text: Text) -> None:
        self.plan, self.config, self.paper, self.text = plan, config, paper, text
        self.dtype = resolve_dtype(
            config.numerics.dtype if paper.pretraining.dtype == "auto" else paper.pretraining.dtype,
            config.runtime.device,
        )
        self.models: dict[int, str] = {}
        self.ladders: list[Ladder] = []
        self.evaluations: dict[str, list[EvaluationRun]] = {}
        self.evaluated: dict[str, Evaluated] = {}

    def add_model(self, seed: int) -> None:
        pretraining = self.paper.pretraining
        self.models[seed] = add_model(
            self.plan,
            self.config,
            pretraining.model,
            seed=seed,
            tokenizer=self.text.tokenizer,
            dropout=pretraining.dropout,
        )

    def add_main_run(self, objective: str, init: str, seed: int) -> None:
        run = getattr(self.paper.pretraining.runs, init)
        name = run_name(objective, init, seed)
        settings = self.settings(objective, seed, steps=run.steps, ladder=run.ladder, horizon=run.horizon_steps)
        source = self.models[seed]
        if run.init == "t5_fs":
            parent = run_name("t5", "fs", seed)
            source = paths.pretrained(parent)
            settings = settings.model_copy(update={"init_step": self.paper.pretraining.runs.fs.ladder[-1]})
        elif run.init == "published":
            pretraining = self.paper.pretraining
            source = add_model(
                self.plan, self.config, pretraining.published_weights, seed=seed, dropout=pretraining.dropout
            )
        self.add_run(name, settings, source, run.ladder, group=f"{objective}_{init}")
        self.ladders.append(Ladder(name=name, objective=objective, init=init, seed=seed, steps=list(run.ladder)))

    def settings(
        self,
        objective: str,
        seed: int,
        *,
        steps: int,
        ladder: list[int],
        horizon: int | None = None,
        length: int | None = None,
        packing: bool | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        changes: dict[str, Any] | None = None,
    ) -> PretrainSettings:
        """The run's settings: the paper's, with what a side experiment changes."""
        pretraining, paper = self.paper.pretraining, self.paper
        schedule = getattr(pretraining.schedule, objective)
        batch = batch_size or pretraining.batch_size
        return PretrainSettings(
            objective=objective,
            objective_settings={**self.objective_settings(objective), **(changes or {})},
            input_length=length or paper.lengths.input,
            target_length=length or paper.lengths.target,
            packing=(pretraining.packing and objective == "t5") if packing is None else packing,
            engine=EngineSettings(
                steps=steps,
                ladder=list(ladder),
                batch_size=batch,
                accumulation=pretraining.accumulation if batch % pretraining.accumulation == 0 else 1,
                optimizer=OptimizerSettings(
                    **{
                        **pretraining.optimizer.model_dump(),
                        **({} if learning_rate is None else {"learning_rate": learning_rate}),
                    }
                ),
                schedule=ScheduleSettings(
                    name=schedule,
                    warmup_steps=pretraining.schedule.warmup_steps,
                    horizon_steps=max(horizon or steps, pretraining.schedule.warmup_steps + 1),
                ),
                dtype=self.dtype,
                # The seed of the run orders the data and draws the masks; the collator's own seed is mixed in.
                seed=(seed + pretraining.collator_seed * 1_000_003) % 2**31,
                log_every=pretraining.evaluation_every,
            ),
        )

    def objective_settings(self, objective: str) -> dict[str, Any]:
        """Only what the objective reads, so that an edit of the other's settings reruns nothing here."""
        paper = self.paper
        shared = {
            "mask_probability": paper.corruption.mask_probability,
            "mean_span_length": paper.corruption.mean_span_length,
            "mask_padding": paper.attention.mask_padding,
        }
        if objective == "t5":
            return {**shared, "t5_int8_bug": paper.corruption.t5_int8_bug}
        return {
            **shared,
            "shuffle_probability": paper.corruption.shuffle_probability,
            "sentinel_replacement": paper.corruption.sentinel_replacement,
            "mask_rows": paper.attention.mask_rows,
            "mask_keys": paper.attention.mask_keys,
            "sentence_weight": paper.loss.sentence_weight,
            "count_padding_in_loss": paper.loss.count_padding_in_loss,
        }

    def add_run(self, name: str, settings: PretrainSettings, source: str, steps: list[int], group: str) -> Evaluated:
        """Plan a run and its validation losses."""
        self.plan.add(
            "pretrain_lm",
            name,
            Job(
                inputs={
                    "tokens": self.text.tokens[settings.objective],
                    "tokenizer": self.text.tokenizer,
                    "init": source,
                },
                settings={"settings": settings},
                plugins=(f"objectives.{settings.objective}",),
            ),
        )
        return self.add_evaluation(name, name, settings, steps, group)

    def add_evaluation(
        self,
        key: str,
        name: str,
        trained: PretrainSettings,
        steps: list[int],
        group: str,
        changes: dict[str, Any] | None = None,
    ) -> Evaluated:
        """Note the validation losses of a ladder, by the run's own corruption and the plain loss."""
        plain = {"sentence_weight": None, "count_padding_in_loss": False} if trained.objective == "depth" else {}
        # A scrambled validation set would hide what the scrambling cost: the defect is judged on correct inputs.
        correct = {"t5_int8_bug": False} if trained.objective == "t5" else {}
        batch = trained.engine.batch_size
        settings = EvaluationSettings(
            objective=trained.objective,
            objective_settings={**trained.objective_settings, **plain, **correct, **(changes or {})},
            input_length=trained.input_length,
            target_length=trained.target_length,
            packing=trained.packing,
            batches=math.ceil(self.paper.evaluation.examples / batch),
            batch_size=batch,
            seed=self.paper.evaluation.seed,
            dtype=trained.engine.dtype,
        )
        table = f"depth_{group}" if self.paper.evaluation.jobs == "group" else key
        self.evaluations.setdefault(table, []).append(
            EvaluationRun(
                name=key,
                ladder=Path(paths.pretrained(name)),
                steps=list(steps),
                tokens=Path(self.text.tokens[trained.objective]),
                settings=settings,
            )
        )
        self.evaluated[key] = Evaluated(paths.evaluation(table), key)
        return self.evaluated[key]

    def add_evaluations(self) -> None:
        """Plan the jobs of all validation losses."""
        for table, runs in self.evaluations.items():
            objectives = dict.fromkeys(run.settings.objective for run in runs)
            self.plan.add(
                "evaluate_lm",
                table,
                Job(
                    inputs={
                        "ladders": list(dict.fromkeys(str(run.ladder) for run in runs)),
                        "tokens": list(dict.fromkeys(str(run.tokens) for run in runs)),
                        "tokenizer": self.text.tokenizer,
                    },
                    settings={"runs": EvaluationRuns(runs=runs)},
                    plugins=tuple(f"objectives.{objective}" for objective in objectives),
                ),
            )

    def add_previews(self) -> None:
        """Plan corrupted examples to read."""
        for objective in self.paper.pretraining.objectives:
            settings = PreviewSettings(
                objective=objective,
                objective_settings=self.objective_settings(objective),
                input_length=self.paper.lengths.input,
                target_length=self.paper.lengths.target,
                seed=self.paper.evaluation.seed,
            )
            self.plan.add(
                "preview_corruption",
                objective,
                Job(
                    inputs={"tokens": self.text.tokens[objective], "tokenizer": self.text.tokenizer},
                    settings={"settings": settings},
                    plugins=(f"objectives.{objective}",),
                ),
            )

    def packing_lr(self) -> list[Variant]:
        """Figure 7: T5 with and without packing at two learning rates."""
        ablation, seed = self.paper.ablations.packing_lr, self.paper.pretraining.seeds[0]
        if not ablation.enabled:
            return []
        found = []
        for packing in ablation.packing:
            for rate in ablation.learning_rates:
                label = f"{'packed' if packing else 'unpacked'}_lr{number_name(rate)}"
                settings = self.settings(
                    "t5",
                    seed,
                    steps=ablation.steps,
                    ladder=self.ladder_to(ablation.steps),
                    packing=packing,
                    learning_rate=rate,
                    batch_size=ablation.batch_size,
                )
                found.append(self.add_variant("t5", seed, label, settings, "packing_lr"))
        return found

    def sentence_weight(self) -> list[Variant]:
        """Figure 10: DEPTH with the joint mean, and with the sentence loss weighted."""
        ablation, seed = self.paper.ablations.sentence_weight, self.paper.pretraining.seeds[0]
        if not ablation.enabled:
            return []
        found = []
        for weight in ablation.weights:
            label = "baseline" if weight is None else f"{weight:g}x"
            settings = self.settings(
                "depth",
                seed,
                steps=ablation.steps,
                ladder=self.ladder_to(ablation.steps),
                changes={"sentence_weight": weight},
            )
            name = f"weight_{label.replace('.', 'p')}"
            found.append(self.add_variant("depth", seed, label, settings, "sentence_weight", name))
        return found

    def padding_in_loss(self) -> list[Variant]:
        """DEPTH with the loss as defined and with padding counted, each on the correct validation loss."""
        ablation = self.paper.ablations.padding_in_loss
        return self.defect("depth", "padding", "count_padding_in_loss", ablation, packing=False)

    def int8_bug(self) -> list[Variant]:
        """T5 with correct indices and with those that wrap at 128, on full-length (packed) inputs."""
        return self.defect("t5", "int8", "t5_int8_bug", self.paper.ablations.int8_bug, packing=True)

    def defect(self, objective: str, name: str, switch: str, ablation: Any, *, packing: bool) -> list[Variant]:
        """A run with a defect of the upstream code, beside the correct one."""
        seed = self.paper.pretraining.seeds[0]
        if not ablation.enabled:
            return []
        found = []
        for label, on in (("correct", False), ("upstream", True)):
            settings = self.settings(
                objective,
                seed,
                steps=ablation.steps,
                ladder=self.ladder_to(ablation.steps),
                length=ablation.input_length,
                packing=packing,
                changes={switch: on},
            )
            variant = self.add_variant(objective, seed, label, settings, f"{name}_defect", f"{name}_{label}")
            found.append(variant)
            if name == "padding":
                # The curve that the upstream code would have reported for the same weights.
                counted = self.add_evaluation(
                    f"{variant.name}_counted",
                    variant.name,
                    settings,
                    settings.engine.ladder,
                    f"{name}_defect",
                    {switch: True},
                )
                label = f"{label}, padding counted in the reported loss"
                found.append(replace(variant, label=label, evaluation=counted))
        return found

    def add_variant(
        self, objective: str, seed: int, label: str, settings: PretrainSettings, group: str, name: str = ""
    ) -> Variant:
        """Plan the run of a side experiment from random weights."""
        run = run_name(objective, "fs", seed, name or label)
        evaluation = self.add_run(run, settings, self.models[seed], settings.engine.ladder, group)
        return Variant(
            name=run,
            objective=objective,
            seed=seed,
            label=label,
            packing=settings.packing,
            learning_rate=settings.engine.optimizer.learning_rate,
            batch_size=settings.engine.batch_size,
            evaluation=evaluation,
        )

    def ladder_to(self, steps: int) -> list[int]:
        """The steps of the runs from scratch up to `steps`, and `steps`."""
        return sorted({step for step in self.paper.pretraining.runs.fs.ladder if step < steps} | {steps})
