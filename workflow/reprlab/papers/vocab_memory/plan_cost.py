"""What vocab-memory costs: its published runs, and those of the active scale."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.models.formula import ENCODERS, classifier_parameters
from reprlab.papers import paths
from reprlab.papers.vocab_memory.plan_finetuning import ARMS, resolved, run_key
from reprlab.reporting.cost_layout import CostLayout, CostRun, Model, Shape
from reprlab.reporting.published import read_printed

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.vocab_memory import VocabMemorySettings

_SLUG = "vocab-memory"
_PUBLISHED = "inputs filled to their length; memory without PEMA"
_RELATIVE = "; without the products of relative positions"
_HERE = "memory without PEMA; seconds hold the start of the process and loading"
_TIMED = "memory without PEMA"


def cost_layout(config: "LoadedConfig", paper: "VocabMemorySettings") -> CostLayout:
    """Published runs first, then those of the active scale; at paper scale these are the published ones with the edits
    of the user, and nothing need have run."""
    published = {"paper": paper if config.scale == "paper" else config.published[_SLUG]}
    scales = {**published, config.scale: paper}
    costs = [_Costs(config, settings, scale) for scale, settings in scales.items()]
    return CostLayout(
        accelerator=paper.cost.accelerator,
        models={name: model for cost in costs for name, model in cost.models().items()},
        runs=[run for cost in costs for run in cost.runs()],
    )


class _Costs:
    """The cost runs of one scale: one for the seeds and arms of a model on a task."""

    def __init__(self, config: "LoadedConfig", paper: "VocabMemorySettings", scale: str) -> None:
        self.config, self.paper, self.scale = config, paper, scale
        self.here = scale != "paper"
        self.sizes = read_printed(config.root, _SLUG, "table7_splits")
        self.seconds = read_printed(config.root, _SLUG, "table9_runtime")

    def models(self) -> dict[str, Model]:
        """The models that are fine-tuned, with a head for two classes, where the formulas know their architecture."""
        names = [*self.paper.finetuning.models, *filter(None, [self.paper.runtime_table.model])]
        found = {name: self.config.models[name] for name in dict.fromkeys(names)}
        return {
            name: Model(
                entry=entry,
                labels=2,
                shape=Shape.of_encoder(entry.config, labels=2),
                parameters=classifier_parameters(entry.architecture, entry.config, labels=2),
            )
            for name, entry in found.items()
            if entry.architecture in ENCODERS
        }

    def runs(self) -> Iterator[CostRun]:
        """Fine-tuning, then the timed runs."""
        known = self.models()
        finetuning, timed = self.paper.finetuning, self.paper.runtime_table
        for task in self.with_data(finetuning.tasks):
            for model in filter(known.__contains__, finetuning.models):
                keys = [run_key(model, task, seed, pema) for seed in finetuning.seeds for pema in ARMS]
                files = {key: f"{paths.finetuned(key)}/metrics.tsv" for key in keys}
                yield self.of_jobs("finetune_model", model, task, finetuning.steps, files)
        for task in self.with_data(timed.tasks) if timed.model in known else ():
            model = str(timed.model)
            keys = [run_key(model, task, seed, pema) for seed in range(1, timed.repeats + 1) for pema in ARMS]
            files = {key: paths.output("measure_finetuning", "out", key) for key in keys}
            yield self.of_jobs("measure_finetuning", model, task, timed.steps or finetuning.steps, files)

    def with_data(self, tasks: list[str]) -> list[str]:
        """The tasks that have data at this scale and a published size."""
        return [task for task in tasks if self.paper.tasks[task].dataset is not None and task in self.sizes]

    def of_jobs(self, stage: Any, model: str, task: str, steps: int | None, files: dict[str, str]) -> CostRun:
        """The runs whose tables are `files`, by their keys."""
        finetuning = self.paper.finetuning
        train, validation = int(self.sizes[task]["train"]), int(self.sizes[task]["validation"])
        train = min(train, finetuning.train_examples or train)
        scored = min(validation, finetuning.evaluation_examples or validation) if stage == "finetune_model" else 0
        dtype = resolved(self.config, self.paper)
        return CostRun(
            scale=self.scale,
            stage=stage,
            name=f"{model}/{task}",
            jobs=len(files),
            model=model,
            steps=steps or math.ceil((finetuning.epochs or 1) * train / finetuning.batch_size),
            batch_size=finetuning.batch_size,
            forwarded=scored,
            text_length=finetuning.input_length,
            encoder_share=1,
            decoder_share=0,
            # The head is read at one place.
            decoder_extra=1,
            part_size=finetuning.batch_size,
            activation_bytes=2 if dtype == "bfloat16" else 4,
            **self.measured(stage, model, task, files),
        )

    def measured(self, stage: str, model: str, task: str, files: dict[str, str]) -> dict[str, Any]:
        """Where the times of jobs stand; of the published ones, the paper's hours where it has them."""
        if self.here:
            return {
                "measured": [Path(path) for path in files.values()],
                "benchmarks": [f"{stage}/{key.replace('/', '.')}.tsv" for key in files],
                "note": _HERE if stage == "finetune_model" else _TIMED,
            }
        timed = self.seconds if model == self.paper.runtime_table.published_model else {}
        seconds = float(timed[task]["finetune_s"]) if task in timed else None
        relative = self.config.models[model].architecture == "deberta_v2"
        return {
            "published_hours": f"{seconds / 3600:.4f}" if seconds else "",
            "note": _PUBLISHED + (_RELATIVE if relative else ""),
        }
