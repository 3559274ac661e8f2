"""Cost of DEPTH: pre-training, validation and fine-tuning, read off the planned jobs."""

import json
from collections.abc import Iterator
from typing import Any

from reprlab.config.load import LoadedConfig
from reprlab.papers.depth.plan_ablations import add_ablations
from reprlab.papers.depth.plan_finetuning import add_finetuning
from reprlab.papers.depth.plan_runs import RunPlanner
from reprlab.papers.depth.plan_text import vocabulary_rows
from reprlab.papers.depth.schema import DepthSettings
from reprlab.planning.cost_jobs import equal_jobs, of_engine, of_finetuning
from reprlab.planning.plan import Plan
from reprlab.reporting.cost_layout import CostRun
from reprlab.training.finetuning_settings import FinetuneSettings
from reprlab.training.settings import EvaluationRuns, PretrainSettings, TextSettings


class Costs:
    """The cost runs of one scale."""

    def __init__(self, config: LoadedConfig, planned: Plan, paper: DepthSettings, scale: str) -> None:
        plan = planned
        if scale != config.scale:
            plan = Plan()
            pretrained = RunPlanner(plan, config, paper)
            add_ablations(pretrained)
            pretrained.finish()
            add_finetuning(plan, config, pretrained)
        self.paper, self.scale = paper, scale
        # Other papers plan some of their own.
        self.jobs = {
            stage: {key: job.settings for key, job in plan.jobs[stage].items() if key.startswith("depth_")}
            for stage in ("pretrain_lm", "evaluate_lm", "finetune_model")
        }
        self.model: dict[str, Any] = {"model": paper.pretraining.model, "vocabulary": vocabulary_rows(paper)}

    def runs(self) -> Iterator[CostRun]:
        """Pre-training, validation, fine-tuning."""
        devices = self.paper.cost.pretraining_devices if self.scale == "paper" else 1
        for name, job in self.jobs["pretrain_lm"].items():
            settings = PretrainSettings.model_validate_json(job["settings"])
            described = {**of_engine(settings.engine, devices), **self.corrupted(settings)}
            yield equal_jobs(self.scale, "pretrain_lm", [name], name=name, jobs=1, **self.model, **described)
        for name, job in self.jobs["evaluate_lm"].items():
            yield self.evaluation(name, EvaluationRuns.model_validate_json(job["runs"]))
        groups: dict[tuple[str, str], list[str]] = {}
        for key, job in self.jobs["finetune_model"].items():
            objective = "depth" if json.loads(job["settings"])["task"]["depth_format"] else "t5"
            groups.setdefault((objective, key.split("/")[1]), []).append(key)
        for (objective, task), keys in groups.items():
            yield self.fine_tuning(objective, task, keys)

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

    def evaluation(self, name: str, evaluated: EvaluationRuns) -> CostRun:
        """The checkpoints of some runs; DEPTH's batches are evaluated twice, shuffled and in order."""
        settings = evaluated.runs[0].settings
        turns = 2 if settings.objective == "depth" else 1
        jobs = sum(len(run.steps) for run in evaluated.runs)
        forwarded = turns * settings.batches * settings.batch_size
        described = {**self.model, **self.corrupted(settings), "batch_size": settings.batch_size, "steps": 0}
        described |= {"part_size": settings.batch_size, "dtype": settings.dtype, "forwarded": forwarded}
        return equal_jobs(self.scale, "evaluate_lm", [name], name=name, jobs=jobs, **described)

    def fine_tuning(self, objective: str, task: str, keys: list[str]) -> CostRun:
        """All models that read one format, on one task."""
        jobs, cost = [self.jobs["finetune_model"][key] for key in keys], self.paper.cost
        settings = FinetuneSettings.model_validate_json(jobs[0]["settings"])
        cells = sum(len(job["names"]) for job in jobs) * len(settings.learning_rates)
        scored = cost.scored.get(task, cost.scored_otherwise)
        described = {**self.model, **of_finetuning(settings, cost.trained.get(task), scored)}
        if self.scale == "paper":
            described |= {"published_hours": cost.hours.get(task, ""), "note": "inputs filled to their length"}
        name, answer = f"{objective}/{task}", settings.task.target_length
        return equal_jobs(self.scale, "finetune_model", keys, name=name, jobs=cells, decoder_extra=answer, **described)
