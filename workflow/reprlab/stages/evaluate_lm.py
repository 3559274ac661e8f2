"""Validation losses of ladders, batch by batch."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.training.settings import EvaluationRuns


def evaluate_lm(*, runs: EvaluationRuns, tokenizer: Path, out: Path, device: str = "cpu") -> None:
    """Write one row per run, step, order of sentences and batch: sums and counts, so that a bootstrap can draw batches.

    Every checkpoint sees the same batches. DEPTH's are evaluated twice, with sentences shuffled and in order; T5's
    once (`shuffled` is false). A run that diverged has rows up to its last sound step. One process evaluates all
    ladders that it is given: starting it costs more than a small ladder.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model
    from reprlab.runtime.progress import track
    from reprlab.text.token_store import TokenStore
    from reprlab.training.ladder import find_step, steps_before_divergence
    from reprlab.training.objective import load_objective
    from reprlab.training.validation import fixed_batches, validation_rows

    rows = []
    for run in runs.runs:
        settings = run.settings
        folders = {step: find_step(run.ladder, step) for step in steps_before_divergence(run.ladder, run.steps)}
        objective = load_objective(settings, tokenizer)
        store = TokenStore.open(run.tokens, settings.split, packing=settings.packed_length)
        batches = fixed_batches(store, objective, settings)
        for step, folder in track(folders.items(), f"checkpoints of {run.name}"):
            found = validation_rows(step, load_model(folder), objective, batches, settings.dtype, device)
            rows += [{"run": run.name, **row} for row in found]
    write_rows(out, rows)


if __name__ == "__main__":
    run_stage(evaluate_lm)
