"""What DEPTH costs: its published runs, and those of the active scale that the formula is held against."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.models.formula import t5_parameters
from reprlab.papers import paths
from reprlab.papers.depth.plan_finetuning import Finetuned, add_finetuning
from reprlab.papers.depth.plan_pretraining import Pretrained, add_pretraining
from reprlab.papers.plan import Job, Plan
from reprlab.reporting.cost_layout import CostLayout, CostRun, Model, Shape
from reprlab.text.vocabulary import Vocabulary
from reprlab.training.finetuning_settings import FinetuneSettings
from reprlab.training.settings import EvaluationRuns, PretrainSettings, TextSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.depth import DepthSettings


def cost_layout(
    config: "LoadedConfig", paper: "DepthSettings", plan: Plan, pretrained: Pretrained, finetuned: list[Finetuned]
) -> CostLayout:
    """Published runs first, then those of the active scale; at paper scale these are the published ones with the edits
    of the user, and nothing need have run."""
    if config.scale == "paper":
        found = _Costs(config, paper, plan, finetuned, "paper")
        return CostLayout(accelerator=paper.cost.accelerator, models={"paper": found.model()}, runs=list(found.runs()))
    published = config.published["depth"]
    scratch = Plan()
    trained = add_pretraining(scratch, config, published)
    wanted = _Costs(config, published, scratch, add_finetuning(scratch, config, published, trained), "paper")
    measured = _Costs(config, paper, plan, finetuned, config.scale)
    return CostLayout(
        accelerator=paper.cost.accelerator,
        models={"paper": wanted.model(), config.scale: measured.model()},
        runs=[*wanted.runs(), *measured.runs()],
    )


class _Costs:
    """The cost runs of one scale, read off its planned jobs."""

    def __init__(
        self, config: "LoadedConfig", paper: "DepthSettings", plan: Plan, finetuned: list[Finetuned], scale: str
    ) -> None:
        self.config, self.paper, self.plan, self.finetuned, self.scale = config, paper, plan, finetuned, scale
        self.devices = paper.cost.pretraining_devices if scale == "paper" else 1

    def jobs(self, stage: str) -> dict[str, Job]:
        """DEPTH's jobs of a stage, by their keys: other papers plan some of their own."""
        return {key: job for key, job in self.plan.jobs[stage].items() if key.startswith("depth_")}

    def model(self) -> Model:
        """The model that all runs train."""
        wanted = self.paper.tokenizer
        rows = Vocabulary(wanted.pieces, wanted.sentinels, wanted.sentence_tokens).padded_size
        entry = self.config.models[self.paper.pretraining.model]
        return Model(
            entry=entry,
            vocabulary=rows,
            shape=Shape.of_t5(entry.config, rows),
            parameters=t5_parameters(entry.config, rows, entry.tie_output),
        )

    def runs(self) -> Iterator[CostRun]:
        """Pre-training, validation, fine-tuning."""
        yield from self.pretraining()
        yield from self.evaluation()
        yield from self.fine_tuning()

    def pretraining(self) -> Iterator[CostRun]:
        for name, job in self.jobs("pretrain_lm").items():
            settings = PretrainSettings.model_validate_json(job.settings["settings"])
            engine = settings.engine
            yield CostRun(
                scale=self.scale,
                stage="pretrain_lm",
                name=name,
                jobs=1,
                model=self.scale,
                steps=engine.steps,
                batch_size=engine.batch_size,
                **self.corrupted(settings),
                part_size=max(1, engine.batch_size // engine.accumulation // self.devices),
                devices=self.devices,
                activation_bytes=2 if engine.dtype == "bfloat16" else 4,
                measured=[Path(paths.pretraining_throughput(name))] if self.scale != "paper" else [],
            )

    def corrupted(self, settings: TextSettings) -> dict[str, Any]:
        """Lengths after span corruption: of n tokens, np are masked, in np/s spans of mean length s, and a sentinel
        stands for each span in the encoder and before it in the decoder."""
        corruption = self.paper.corruption
        masked = corruption.mask_probability
        sentinels = masked / corruption.mean_span_length
        # Sentence tokens and ends of sentences are copied to the decoder, two a sentence; few texts have the 20
        # sentences that are kept, and a quarter of the tokens is more than English sentences need.
        sentences = min(2 * self.paper.segmentation.max_sentences, settings.input_length // 4)
        return {
            "text_length": settings.input_length,
            "encoder_share": 1 - masked + sentinels,
            "decoder_share": masked + sentinels,
            "decoder_extra": sentences if settings.objective == "depth" else 0,
        }

    def evaluation(self) -> Iterator[CostRun]:
        for name, job in self.jobs("evaluate_lm").items():
            runs = EvaluationRuns.model_validate_json(job.settings["runs"]).runs
            settings = runs[0].settings
            # DEPTH's batches are evaluated twice, shuffled and in order.
            turns = 2 if settings.objective == "depth" else 1
            yield CostRun(
                scale=self.scale,
                stage="evaluate_lm",
                name=name,
                jobs=sum(len(run.steps) for run in runs),
                model=self.scale,
                steps=0,
                batch_size=settings.batch_size,
                forwarded=turns * settings.batches * settings.batch_size,
                **self.corrupted(settings),
                part_size=settings.batch_size,
                activation_bytes=2 if settings.dtype == "bfloat16" else 4,
                measured=[Path(paths.evaluation(name))] if self.scale != "paper" else [],
                benchmarks=[f"evaluate_lm/{name}.tsv"] if self.scale != "paper" else [],
                note="" if self.scale == "paper" else "seconds hold the start of the process and loading",
            )

    def fine_tuning(self) -> Iterator[CostRun]:
        """All models that read one format, on one task."""
        groups: dict[tuple[str, str], list[str]] = {}
        for key, job in self.jobs("finetune_model").items():
            settings = json.loads(job.settings["settings"])
            objective = "depth" if settings["task"]["depth_format"] else "t5"
            groups.setdefault((objective, key.split("/")[1]), []).append(key)
        for (objective, task), keys in groups.items():
            yield self.of_task(objective, task, keys)

    def of_task(self, objective: str, task: str, keys: list[str]) -> CostRun:
        jobs = [self.plan.jobs["finetune_model"][key] for key in keys]
        settings = FinetuneSettings.model_validate_json(jobs[0].settings["settings"])
        cells = sum(len(job.settings["names"]) for job in jobs) * len(settings.learning_rates)
        engine, cost = settings.engine, self.paper.cost
        steps = engine.steps
        if settings.epochs is not None and task in cost.trained:
            steps = int(settings.epochs * cost.trained[task] / engine.batch_size)
        scored = cost.scored.get(task, cost.scored_otherwise)
        if settings.eval_limit is not None:
            scored = min(scored, settings.eval_limit * len(settings.splits))
        runs = [run for run in self.finetuned if run.task == task and run.ladder.objective == objective]
        here = self.scale != "paper"
        return CostRun(
            scale=self.scale,
            stage="finetune_model",
            name=f"{objective}/{task}",
            jobs=cells,
            model=self.scale,
            steps=steps,
            batch_size=engine.batch_size,
            forwarded=scored * len(settings.task.eval_modes),
            text_length=settings.task.input_length,
            encoder_share=1,
            decoder_share=0,
            decoder_extra=settings.task.target_length,
            part_size=max(1, engine.batch_size // engine.accumulation),
            activation_bytes=2 if engine.dtype == "bfloat16" else 4,
            published_hours="" if here else cost.hours.get(task, ""),
            measured=sorted({Path(run.metrics) for run in runs}) if here else [],
            benchmarks=[f"finetune_model/{key.replace('/', '.')}.tsv" for key in keys] if here else [],
            note="seconds hold the start of the process and loading" if here else "inputs filled to their length",
        )
