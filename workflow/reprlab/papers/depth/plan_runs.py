"""DEPTH's pre-training runs as jobs: their settings, their starting points, their validation losses."""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

from reprlab.config.load import LoadedConfig
from reprlab.objectives.settings import PreviewSettings
from reprlab.papers.depth.names import run_name
from reprlab.papers.depth.plan_text import add_text
from reprlab.papers.depth.schema import DepthSettings
from reprlab.planning import paths
from reprlab.planning.language_model_jobs import add_held_out, add_pretraining_run, held_out
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_model
from reprlab.plugins import load_plugin
from reprlab.settings.base import derive
from reprlab.training.settings import EngineSettings, EvaluationRun, PretrainSettings, ScheduleSettings


@dataclass(frozen=True)
class Run:
    """A pre-training run, and the validation losses that speak for it."""

    name: str
    init: str
    seed: int
    settings: PretrainSettings
    losses: str
    """Table of its validation losses."""
    evaluated: str
    """Name of its rows there."""
    variant: str = ""
    """Its name in a side experiment."""


class RunPlanner:
    """Adds runs and their validation losses to the plan, and remembers what was added."""

    def __init__(self, plan: Plan, config: LoadedConfig, paper: DepthSettings) -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.text = add_text(plan, config, paper)
        self.models: dict[int, str] = {}
        """Folder of the random initial model by seed."""
        self.runs: list[Run] = []
        """Main runs."""
        self.evaluations: dict[str, list[EvaluationRun]] = {}
        for seed in paper.pretraining.seeds:
            self.models[seed] = self.initial(paper.pretraining.model, seed, self.text.tokenizer)
            for init, objective in product(("fs", "cpt"), paper.pretraining.objectives):
                self.runs.append(self.add_main_run(objective, init, seed))

    def initial(self, model: str, seed: int, tokenizer: str = "") -> str:
        """Plan a model before training; returns its folder."""
        dropout = self.paper.pretraining.dropout
        return add_model(self.plan, self.config, model, seed=seed, tokenizer=tokenizer, dropout=dropout)

    def add_main_run(self, objective: str, init: str, seed: int) -> Run:
        """Plan a run from scratch (fs) or continued (cpt)."""
        pretraining = self.paper.pretraining
        run = getattr(pretraining.runs, init)
        settings = self.settings(objective, seed, steps=run.steps, ladder=run.ladder, horizon=run.horizon_steps)
        source = self.models[seed]
        if run.init == "t5_fs":
            source = paths.pretrained(run_name("t5", "fs", seed))
            settings = settings.model_copy(update={"init_step": pretraining.runs.fs.ladder[-1]})
        elif run.init == "published":
            source = self.initial(pretraining.published_weights, seed)
        return self.add_run(run_name(objective, init, seed), init, seed, settings, source, f"{objective}_{init}")

    def add_variant(self, objective: str, name: str, group: str, variant: str, steps: int, **changed: Any) -> Run:
        """Plan a run of a side experiment from random weights; for `changed` see `settings`."""
        fs, seed = self.paper.pretraining.runs.fs, self.paper.pretraining.seeds[0]
        ladder = sorted({step for step in fs.ladder if step < steps} | {steps})
        settings = self.settings(objective, seed, steps=steps, ladder=ladder, **changed)
        return self.add_run(
            run_name(objective, "fs", seed, name), "fs", seed, settings, self.models[seed], group, variant
        )

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
        batch, warmup_steps = batch_size or pretraining.batch_size, pretraining.schedule.warmup_steps
        rate = {} if learning_rate is None else {"learning_rate": learning_rate}
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
                optimizer=pretraining.optimizer.model_copy(update=rate),
                schedule=ScheduleSettings(
                    name=getattr(pretraining.schedule, objective),
                    warmup_steps=warmup_steps,
                    horizon_steps=max(horizon or steps, warmup_steps + 1),
                ),
                dtype=self.config.arithmetic(pretraining.dtype),
                # The seed of the run orders the data and draws the masks; the collator's own seed is mixed in.
                seed=(seed + pretraining.collator_seed * 1_000_003) % 2**31,
                log_every=pretraining.evaluation_every,
            ),
        )

    def objective_settings(self, objective: str) -> dict[str, Any]:
        """Only what the objective reads, so that an edit of the other's settings reruns nothing here."""
        paper, read = self.paper, load_plugin("objectives", objective).Settings
        return derive(read, paper.corruption, paper.attention, paper.loss).model_dump()

    def add_run(
        self, name: str, init: str, seed: int, settings: PretrainSettings, source: str, group: str, variant: str = ""
    ) -> Run:
        """Plan a run, and note its validation losses in the table of its group."""
        tokens, tokenizer = self.text.tokens[settings.objective], self.text.tokenizer
        add_pretraining_run(self.plan, name, settings, tokens=tokens, tokenizer=tokenizer, init=source)
        return Run(name, init, seed, settings, self.note_losses(name, name, settings, group), name, variant)

    def note_losses(
        self, key: str, name: str, trained: PretrainSettings, group: str, changes: dict[str, Any] | None = None
    ) -> str:
        """Note the validation losses of a ladder, by the run's own corruption and the plain loss; returns the table."""
        plain = {"sentence_weight": None, "count_padding_in_loss": False} if trained.objective == "depth" else {}
        # A scrambled validation set would hide what the scrambling cost: the defect is judged on correct inputs.
        correct = {"t5_int8_bug": False} if trained.objective == "t5" else {}
        table = f"depth_{group}" if self.paper.evaluation.jobs == "group" else key
        evaluated = held_out(
            key,
            name,
            trained,
            trained.engine.ladder,
            self.text.tokens[trained.objective],
            objective_settings={**trained.objective_settings, **plain, **correct, **(changes or {})},
            batches=math.ceil(self.paper.evaluation.examples / trained.engine.batch_size),
            seed=self.paper.evaluation.seed,
        )
        self.evaluations.setdefault(table, []).append(evaluated)
        return paths.evaluation(table)

    def finish(self) -> None:
        """Plan the validation losses that were noted, and corrupted examples to read."""
        for table, runs in self.evaluations.items():
            add_held_out(self.plan, table, runs, self.text.tokenizer)
        for objective in self.paper.pretraining.objectives:
            settings = PreviewSettings(
                objective=objective,
                objective_settings=self.objective_settings(objective),
                input_length=self.paper.lengths.input,
                target_length=self.paper.lengths.target,
                seed=self.paper.evaluation.seed,
            )
            inputs = {"tokens": self.text.tokens[objective], "tokenizer": self.text.tokenizer}
            job = Job(inputs, {"settings": settings}, plugins=(f"objectives.{objective}",))
            self.plan.add("preview_corruption", objective, job)
