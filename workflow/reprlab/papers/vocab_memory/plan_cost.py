"""Cost of vocab-memory: the seeds and arms of each model on each task, and the timed runs."""

from collections.abc import Iterator

from reprlab.config.load import LoadedConfig
from reprlab.papers.vocab_memory.plan_finetuning import ARMS, Finetuning, run_key
from reprlab.papers.vocab_memory.schema import VocabMemorySettings
from reprlab.planning.cost_jobs import equal_jobs, of_finetuning
from reprlab.planning.plan import Plan
from reprlab.reporting.cost_layout import CostRun
from reprlab.reporting.published import read_printed


def cost_runs(config: LoadedConfig, paper: VocabMemorySettings, scale: str) -> Iterator[CostRun]:
    """Fine-tuning, then the timed runs, of tasks that have data at this scale and a published size."""
    sizes = read_printed(config.root, "vocab-memory", "table7_splits")
    seconds = read_printed(config.root, "vocab-memory", "table9_runtime")
    planner, timed = Finetuning(Plan(), config, paper), paper.runtime_table

    def of_jobs(stage: str, model: str, task: str, seeds: list[int], steps: int | None) -> CostRun:
        train, validation = (int(sizes[task][split]) for split in ("train", "validation"))
        settings = planner.recipe(model, task, seeds[0], False, steps)
        described = of_finetuning(settings, train, validation if stage == "finetune_model" else 0)
        note = "memory without PEMA"
        if scale == "paper":
            relative = config.models[model].architecture == "deberta_v2"
            note = f"inputs filled to their length; {note}"
            note += "; without the products of relative positions" if relative else ""
            if model == timed.published_model and task in seconds:
                described["published_hours"] = f"{float(seconds[task]['finetune_s']) / 3600:.4f}"
        keys = [run_key(model, task, seed, pema) for seed in seeds for pema in ARMS]
        # The head is read at one place.
        described |= {"name": f"{model}/{task}", "model": model, "labels": 2, "decoder_extra": 1, "note": note}
        return equal_jobs(scale, stage, keys, jobs=len(keys), **described)

    def with_data(tasks: list[str]) -> list[str]:
        return [task for task in tasks if paper.tasks[task].dataset is not None and task in sizes]

    tuned = paper.finetuning
    for task in with_data(tuned.tasks):
        for model in tuned.models:
            yield of_jobs("finetune_model", model, task, tuned.seeds, tuned.steps)
    for task in with_data(timed.tasks) if timed.model else ():
        seeds = list(range(1, timed.repeats + 1))
        yield of_jobs("measure_finetuning", str(timed.model), task, seeds, timed.steps or tuned.steps)
