"""Held-out losses of models and of what is made of two of them."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reprlab.runtime.cli import run_stage
from reprlab.training.merge_settings import MergeEvaluation


def evaluate_merges(*, runs: MergeEvaluation, tokenizer: Path, out: Path, device: str = "cpu") -> None:
    """Write one row a model, corpus and batch: model, t (empty for a model itself), corpus, batch, sums and counts, and
    the number of the model's parameters.

    A point of a sweep is a model of the sweep's name, and t the value that is swept: of slerp 0 is the first model
    after the cast, 1 the second. All of them see the same batches.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model
    from reprlab.models.merging import MergeSettings, merged_model
    from reprlab.runtime.progress import track
    from reprlab.text.token_store import TokenStore
    from reprlab.training.objective import load_objective
    from reprlab.training.validation import fixed_batches, validation_rows

    settings = runs.evaluation
    objective = load_objective(settings, tokenizer)
    batches = {
        corpus: fixed_batches(TokenStore.open(path, settings.split, packing=settings.input_length), objective, settings)
        for corpus, path in runs.texts.items()
    }

    def rows_of(model: Any, name: str, fraction: float, corpora: Iterable[str]) -> list[dict[str, Any]]:
        columns = ("batch", "tokens", "loss_sum", "count", "correct", "total")
        about = {"model": name, "t": fraction, "parameters": sum(one.numel() for one in model.parameters())}
        return [
            {**about, "corpus": corpus, **{column: row[column] for column in columns}}
            for corpus in corpora
            for row in validation_rows(0, model, objective, batches[corpus], settings.dtype, device)
        ]

    rows = [row for name in runs.scored for row in rows_of(load_model(runs.models[name]), name, math.nan, runs.texts)]
    first, second, base = (runs.models[name] for name in (runs.first, runs.second, runs.base))
    points = [(name, sweep, value) for name, sweep in runs.sweeps.items() for value in sweep.values]
    for name, sweep, value in track(points, "merged models"):
        options = {**sweep.options, sweep.over: value}
        merge = MergeSettings(method=sweep.method, options=options, dtype=runs.dtype)
        rows += rows_of(merged_model(first, second, merge, base), name, value, runs.swept)
    write_rows(out, rows)


if __name__ == "__main__":
    run_stage(evaluate_merges)
