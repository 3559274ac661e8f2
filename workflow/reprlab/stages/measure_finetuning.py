"""Measure what fine-tuning costs: seconds and peak memory of one run in a process of its own."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.training.finetuning_settings import FinetuneSettings


def measure_finetuning(
    *, model: Path, tokenizer: Path, examples: Path, out: Path, settings: FinetuneSettings, device: str = "cpu"
) -> None:
    """Fine-tune once with the first learning rate and write one row of costs (see `TrainingCost`).

    Seconds and bytes differ from run to run; no score is made here.
    """
    from dataclasses import asdict

    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.models.build import quiet_transformers
    from reprlab.training.finetuning import prepare_task
    from reprlab.training.finetuning_cost import training_cost

    quiet_transformers()
    prepared = prepare_task(examples, tokenizer, settings)
    cost = training_cost(prepared, settings, model, device)
    write_tsv(out, pandas.DataFrame([{**asdict(cost), "device": device}]))


if __name__ == "__main__":
    run_stage(measure_finetuning)
