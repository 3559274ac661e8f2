"""Pre-training runs of DEPTH as jobs: their settings, their starting points, their validation losses."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.config.settings import derive
from reprlab.objectives.settings import PreviewSettings
from reprlab.papers import paths
from reprlab.papers.depth.names import Ladder, run_name
from reprlab.papers.depth.plan_text import Text
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_model
from reprlab.plugins import load_plugin
from reprlab.runtime.machine import resolve_dtype
from reprlab.training.settings import (
    EngineSettings,
    EvaluationRun,
    EvaluationRuns,
    EvaluationSettings,
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


class RunPlanner:
    """Adds runs and their validation losses to the plan, and remembers what was added."""

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
                optimizer=pretraining.optimizer.model_copy(
                    update={} if learning_rate is None else {"learning_rate": learning_rate}
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
        paper, read = self.paper, load_plugin("objectives", objective).Settings
        return derive(read, paper.corruption, paper.attention, paper.loss).model_dump()

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
                        "after": list(dict.fromkeys(str(path) for run in runs for path in (run.ladder, run.tokens))),
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

    def ladder_to(self, steps: int) -> list[int]:
        """The steps of the runs from scratch up to `steps`, and `steps`."""
        return sorted({step for step in self.paper.pretraining.runs.fs.ladder if step < steps} | {steps})
