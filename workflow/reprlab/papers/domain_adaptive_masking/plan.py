"""Plan of domain-adaptive masking: curriculum, continued pre-training by masking, held-out losses, named entities."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from reprlab.concepts.settings import BlockSettings
from reprlab.evaluation.settings import MetricName
from reprlab.papers.domain_adaptive_masking.plan_curriculum import Curriculum, add_blocks, add_curriculum, thresholds
from reprlab.papers.domain_adaptive_masking.results import MASKS, NONE, RESULTS, SHARES, UNIGRAM, UNTRAINED
from reprlab.papers.domain_adaptive_masking.schema import Masking
from reprlab.planning import paths
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.finetuning_jobs import add_finetuning_job, add_trivial
from reprlab.planning.language_model_jobs import (
    add_held_out,
    add_pretraining_run,
    add_scratch_text,
    add_sentences,
    held_out,
)
from reprlab.planning.plan import Job, Plan
from reprlab.planning.result_jobs import add_results
from reprlab.planning.shared_jobs import add_model, add_task
from reprlab.reporting.published import read_printed
from reprlab.results.sources import Missing, Source, Value
from reprlab.settings.base import derive
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.settings import (
    EngineSettings,
    EvaluationRun,
    OptimizerSettings,
    PretrainSettings,
    ScheduleSettings,
)

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.domain_adaptive_masking.schema import DomainAdaptiveMaskingSettings

SLUG, NAME = "domain-adaptive-masking", "domain_adaptive_masking"
_SCORES: list[MetricName] = ["entity_f1", "entity_precision", "entity_recall"]
_LOSSES = ["loss_sum", "count", "correct", "total"]


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    jobs = _Jobs(plan, config, paper)
    entries: list[Source | Missing] = []
    if paper.graph is None:
        entries.append(Missing(factors={"part": "curriculum"}, reason=paper.unavailable))
        entries += [Missing(factors={"masking": name}, reason=paper.unavailable) for name in paper.maskings]
        runs = [_Run(NONE, 0, jobs.initial, "", 0)]
    else:
        runs = jobs.pretraining(entries)
        off = [name for name in get_args(Masking) if name not in paper.maskings]
        entries += [Missing(factors={"masking": name}, reason=f"off: not in papers.{SLUG}.maskings") for name in off]
    for task in paper.compared:
        entries += jobs.tagging(task, runs)
    options: dict[str, Any] = {
        "printed": {name: read_printed(config.root, SLUG, name) for name in ("table1", "table2", "statements")}
    }
    if paper.graph is not None:
        options["tokens_per_update"] = paper.pretraining.batch_size * paper.pretraining.length
        options["curriculum"] = thresholds(paper.curriculum).model_dump()
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    add_cost(plan, config, SLUG)


@dataclass(frozen=True)
class _Run:
    """A model before it is fine-tuned."""

    masking: str
    seed: int
    made_in: str
    """Folder that a rule depends on: a model's, or a ladder's."""
    name: str
    """Name of its ladder; empty: it has none."""
    steps: int

    @property
    def model(self) -> str:
        return paths.checkpoint(self.name, self.steps) if self.name else self.made_in


class _Jobs:
    """The jobs, and the files that hold their results."""

    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "DomainAdaptiveMaskingSettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.dtype = config.arithmetic(paper.dtype)
        if config.models[paper.model].origin.kind == "scratch":
            _, self.tokenizer = add_scratch_text(
                plan,
                config,
                paper.warm_start.text,
                paper.model,
                setting=f"papers.{SLUG}.warm_start.text",
                passages=NAME,
                tokenizer=NAME,
                sentinels=1,
                sentence_tokens=1,
            )
            self.initial = add_model(plan, config, paper.model, seed=config.workflow.seed, tokenizer=self.tokenizer)
        else:
            self.initial = self.tokenizer = add_model(plan, config, paper.model, seed=config.workflow.seed)

    def pretraining(self, entries: list[Source | Missing]) -> list[_Run]:
        """Every masking of every seed from the same start; the results go to `entries`."""
        paper, recipe = self.paper, self.paper.pretraining
        blocks = BlockSettings(length=recipe.length, documents=paper.documents)
        curriculum = add_curriculum(self.plan, self.config, paper, self.tokenizer, blocks)
        entries += curriculum.entries
        start = self._general_run()
        # The start as a ladder of its own, so that every masking is evaluated in one way.
        runs = [self._run(NONE, 0, start, curriculum)]
        runs += [self._run(masking, seed, start, curriculum) for masking in paper.maskings for seed in recipe.seeds]
        for run in runs[1:]:
            about: dict[str, Value] = {"part": "training", "masking": run.masking, "pretraining_seed": run.seed}
            # Random tokens are in every batch.
            wide = [name for name in SHARES if name != "empty_share" or run.masking != "random"]
            entries.append(
                Source(
                    path=Path(paths.pretraining_metrics(run.name)),
                    factors=about,
                    keys={"step": "step"},
                    wide=["loss", *wide],
                    data=curriculum.title,
                )
            )
        entries += self._held_out(runs, curriculum)
        untrained = self.config.models[paper.model].origin.kind == "scratch"
        return [*([_Run(UNTRAINED, 0, self.initial, "", 0)] if untrained else []), *runs]

    def _engine(
        self, steps: int, ladder: list[int], seed: int, schedule: ScheduleSettings, recipe: Any, **own: Any
    ) -> EngineSettings:
        return derive(
            EngineSettings,
            recipe,
            **own,
            steps=steps,
            ladder=ladder,
            seed=seed,
            schedule=schedule,
            dtype=self.dtype,
            log_every=max(steps // 20, 1),
        )

    def _settings(
        self, masking: str, engine: EngineSettings, init_step: int | None, shares: Any, length: int | None = None
    ) -> PretrainSettings:
        """`shares` say how much is masked: those of the training, or of the evaluation."""
        recipe = self.paper.pretraining
        if masking in ("concept", "random_span"):
            objective = "masked_concepts"
            own: dict[str, Any] = {
                "selection": "concepts" if masking == "concept" else "spans",
                "budget": shares.budget,
            }
        else:
            objective, own = "masked_lm", {"mask_probability": shares.mask_probability}
        tokens = length or recipe.length
        return PretrainSettings(
            objective=objective,
            objective_settings=own,
            engine=engine,
            init_step=init_step,
            input_length=tokens,
            target_length=tokens,
        )

    def _general_run(self) -> tuple[str, int | None]:
        """The start of continued pre-training: a published model, or the ladder of a run on general text."""
        if self.config.models[self.paper.model].is_complete:
            return self.initial, None
        wanted, recipe = self.paper.warm_start, self.paper.pretraining
        blocks = BlockSettings(length=wanted.length, documents=self.paper.documents)
        tokens = add_blocks(self.plan, self.config, f"{NAME}_general", self.paper.general, self.tokenizer, blocks)
        engine = self._engine(
            wanted.steps,
            [wanted.steps],
            self.config.workflow.seed,
            ScheduleSettings(name=recipe.schedule, warmup_steps=wanted.warmup_steps),
            wanted,
            optimizer=derive(OptimizerSettings, recipe.optimizer, learning_rate=wanted.learning_rate),
            accumulation=recipe.accumulation,
        )
        settings = self._settings("random", engine, None, recipe, wanted.length)
        ladder = add_pretraining_run(
            self.plan, f"{NAME}_general", settings, tokens=tokens, tokenizer=self.tokenizer, init=self.initial
        )
        return ladder, wanted.steps

    def _run(self, masking: str, seed: int, start: tuple[str, int | None], curriculum: Curriculum) -> _Run:
        recipe = self.paper.pretraining
        steps = 0 if masking == NONE else recipe.steps
        schedule = ScheduleSettings(name=recipe.schedule, warmup_steps=recipe.warmup_steps)
        engine = self._engine(steps, recipe.ladder if steps else [0], seed, schedule, recipe)
        # Random tokens need no marks: another threshold does not train them again.
        tokens = curriculum.marked if masking in ("concept", "random_span") else curriculum.blocks
        name, settings = f"{NAME}_{masking}_s{seed}", self._settings(masking, engine, start[1], recipe)
        ladder = add_pretraining_run(self.plan, name, settings, tokens=tokens, tokenizer=self.tokenizer, init=start[0])
        return _Run(masking, seed, ladder, name, steps)

    def _held_out(self, runs: list[_Run], curriculum: Curriculum) -> list[Source]:
        """Losses of every step on the same blocks, with random tokens masked and with concepts masked."""
        found = []
        for masks, (masking, tokens) in MASKS.items():
            evaluated = []
            for run in runs:
                engine = self._engine(max(run.steps, 1), [], 0, ScheduleSettings(), self.paper.pretraining)
                steps = self.paper.pretraining.ladder if run.steps else [0]
                # Shares of its own: runs that were trained with others are compared on the same masks.
                trained = self._settings(masking, engine, None, self.paper.held_out)
                own = {"batches": self.paper.held_out.batches, "batch_size": self.paper.held_out.batch_size}
                text = curriculum.marked if tokens == "marked" else curriculum.blocks
                evaluated.append(held_out(run.name, run.name, trained, steps, text, seed=0, **own))
            table = Path(add_held_out(self.plan, f"{NAME}_{masks}", evaluated, self.tokenizer))
            found += self._controls(runs, masks, evaluated, curriculum)
            for run in runs:
                # The common start is beside every seed.
                for seed in self.paper.pretraining.seeds if run.masking == NONE else [run.seed]:
                    about: dict[str, Value] = {"masks": masks, "masking": run.masking, "pretraining_seed": seed}
                    found.append(
                        Source(
                            path=table,
                            factors={"part": "held_out", **about},
                            keys={"step": "step", "batch": "batch"},
                            where={"run": run.name},
                            wide=_LOSSES,
                            data=curriculum.title,
                        )
                    )
        return found

    def _controls(
        self, runs: list[_Run], masks: str, evaluated: list[EvaluationRun], curriculum: Curriculum
    ) -> list[Source]:
        """The same masks at the last step: by word frequencies alone, and by each model with its output bias refitted
        to what these masks hide in the training text."""
        last = [run.model_copy(update={"steps": run.steps[-1:]}) for run in evaluated]
        settings = {"fit_batches": self.paper.held_out.fit_batches}
        table = Path(
            add_held_out(self.plan, f"{NAME}_{masks}", last, self.tokenizer, "evaluate_mask_controls", settings)
        )
        named = [(run.name, run.masking, run.seed) for run in runs] + [(UNIGRAM, UNIGRAM, 0)]
        return [
            Source(
                path=table,
                factors={"part": "controls", "masks": masks, "masking": masking, "pretraining_seed": seed},
                keys={"step": "step", "batch": "batch", "control": "control"},
                where={"run": name},
                wide=[*_LOSSES, "hidden_correct", "hidden"],
                data=curriculum.title,
            )
            for name, masking, own in named
            # What has no seed of pre-training is beside every one.
            for seed in (self.paper.pretraining.seeds if masking in (NONE, UNIGRAM) else [own])
        ]

    def tagging(self, task: str, runs: list[_Run]) -> list[Source | Missing]:
        """Every model fine-tuned on a data set, beside what the words alone say, and the entities of the set."""
        recipe, dataset = self.paper.finetuning, self.paper.tasks[task]
        entry = self.config.datasets.tasks[dataset]
        sentences = {
            corpus: add_sentences(self.plan, self.config, corpus, NAME, self.paper.warm_start.text.segmentation)
            for corpus in entry.documents
        }
        examples = add_task(self.plan, self.config, dataset, sentences)
        cut: dict[str, Any] = {"splits": ["test"], "train_limit": recipe.examples, "eval_limit": recipe.scored}
        baselines = add_trivial(self.plan, entry, dataset, examples, metrics=_SCORES, **cut)
        counts = Path(self.plan.add("count_entities", dataset, Job({"examples": examples}))["out"])
        factors: dict[str, Value] = {"part": "entities", "task": task}
        found: list[Source | Missing] = [
            Source(path=counts, factors=factors, keys={"counted": "split"}, data=entry.title)
        ]
        beside_untrained: dict[str, Value] = (
            {"masking": UNTRAINED, "task": task} if any(run.masking == UNTRAINED for run in runs) else {}
        )
        tagged = self.paper.pretraining.seeds[: recipe.pretrained]
        for run in [run for run in runs if run.seed in tagged or run.masking not in self.paper.maskings]:
            for seed in recipe.seeds:
                key = f"{NAME}_{run.masking}/{dataset}/p{run.seed}_s{seed}"
                out = self._tagged(key, run, examples, seed)
                about: dict[str, Value] = {
                    "part": "tagging",
                    "task": task,
                    "masking": run.masking,
                    "pretraining_seed": run.seed,
                }
                found.append(
                    Source(
                        path=Path(out["out_metrics"]),
                        factors={**about, "seed": seed},
                        data=entry.title,
                        **baselines,
                        untrained=beside_untrained if run.masking != UNTRAINED else {},
                    )
                )
        return found

    def _tagged(self, key: str, run: _Run, examples: str, seed: int) -> dict[str, str]:
        recipe = self.paper.finetuning
        engine = self._engine(
            1,
            [],
            seed,
            ScheduleSettings(name=recipe.schedule),
            recipe,
            optimizer=derive(OptimizerSettings, recipe.optimizer, learning_rate=recipe.learning_rate),
        )
        task = TaskSettings(kind="tags", metrics=_SCORES, input_length=recipe.length, tag_pieces=recipe.pieces)
        settings = derive(
            FinetuneSettings,
            recipe,
            task=task,
            engine=engine,
            learning_rates=[recipe.learning_rate],
            splits=["test"],
            train_limit=recipe.examples,
            eval_limit=recipe.scored,
            keep=self.config.workflow.keep_finetuned,
        )
        return add_finetuning_job(
            self.plan, key, {run.masking: run.model}, [run.made_in], self.tokenizer, examples, settings
        )
