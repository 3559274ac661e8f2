"""Validation losses of a ladder, batch by batch."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.training.settings import EvaluationSettings


def evaluate_lm(
    *,
    ladder: Path,
    steps: list[int],
    tokens: Path,
    tokenizer: Path,
    out: Path,
    settings: EvaluationSettings,
    device: str = "cpu",
) -> None:
    """Write one row per step, order of sentences and batch: sums and counts, so that a bootstrap can draw batches.

    Every checkpoint sees the same batches. DEPTH's are evaluated twice, with sentences shuffled and in order; T5's
    once (`shuffled` is false). A run that diverged has rows up to its last sound step.
    """
    from reprlab.models.build import load_model
    from reprlab.text.token_store import TokenStore
    from reprlab.training.ladder import find_step, steps_before_divergence
    from reprlab.training.objective import load_objective
    from reprlab.training.tables import write_rows
    from reprlab.training.validation import fixed_batches, validation_rows

    folders = {step: find_step(ladder, step) for step in steps_before_divergence(ladder, steps)}
    objective = load_objective(settings, tokenizer)
    store = TokenStore.open(tokens, settings.split, packing=settings.input_length if settings.packing else 0)
    batches = fixed_batches(store, objective, settings)
    rows = []
    for step, folder in folders.items():
        rows += validation_rows(step, load_model(folder), objective, batches, settings.dtype, device)
    write_rows(out, rows)


if __name__ == "__main__":
    run_stage(evaluate_lm)
