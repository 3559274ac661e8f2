"""Held-out losses of masked language models beside a rule that reads no context, and refitted output biases."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.training.settings import EvaluationRuns


def evaluate_mask_controls(
    *, runs: EvaluationRuns, tokenizer: Path, out: Path, fit_batches: int, device: str = "cpu"
) -> None:
    """Write one row per run, control and batch: sums and counts, of all that is predicted and of what is hidden.

    Args:
        runs: the ladders, on the same text and with the same masks, each with one step.
        fit_batches: batches of the training text from which frequencies and biases are fitted.

    Raises:
        ReprlabError: unreadable inputs, or text that does not fill a batch.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model
    from reprlab.runtime.progress import track
    from reprlab.text.token_store import TokenStore
    from reprlab.training.ladder import find_step
    from reprlab.training.mask_controls import UNIGRAM, control_rows, label_counts, unigram_rows
    from reprlab.training.objective import load_objective
    from reprlab.training.processes import choose_device
    from reprlab.training.validation import fixed_batches

    first = runs.runs[0]
    objective = load_objective(first.settings, tokenizer)
    training = first.settings.model_copy(update={"split": "train", "batches": fit_batches})
    held_out, fit = (
        fixed_batches(TokenStore.open(first.tokens, settings.split), objective, settings)
        for settings in (first.settings, training)
    )
    counts = label_counts(fit, objective.masks.size)
    about = {"run": UNIGRAM, "step": 0, "control": UNIGRAM}
    rows = [{**about, **row} for row in unigram_rows(held_out, fit, counts, objective.masks.mask_id)]
    for run in track(runs.runs, "models"):
        (step,) = run.steps
        model = load_model(find_step(run.ladder, step))
        found = control_rows(model, objective, held_out, fit, counts, choose_device(device))
        rows += [{"run": run.name, "step": step, **row} for row in found]
    write_rows(out, rows)


if __name__ == "__main__":
    run_stage(evaluate_mask_controls)
