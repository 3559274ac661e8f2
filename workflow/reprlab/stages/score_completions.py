"""Score decoders on prompts: label words, generated texts, choices."""

from pathlib import Path
from typing import Any

from reprlab.evaluation.completion_settings import CompletionScoring
from reprlab.runtime.cli import run_stage

PREDICTIONS = ["ckpt", "eval", "fmt", "shots", "method", "id", "gold", "prediction"]


def score_completions(
    *,
    models: list[Path],
    tokenizer: Path,
    out: Path,
    predictions: Path,
    settings: CompletionScoring,
    tuning: Path | None = None,
    device: str = "cpu",
    inference_batch: int = 32,
) -> None:
    """Write one row per model and cell, and one row per prediction. Models are loaded one after another.

    Args:
        models: folders in the order of `settings.models`.
        tuning: table of the fine-tuning that made the models; none: they are not fine-tuned.
        inference_batch: prompts at once; it does not change the result but for rounding.

    Raises:
        ReprlabError: prompts that do not fit the method, or labels that share a token.
    """
    import pandas
    import pyarrow

    from reprlab.artifacts.tables import read_tsv, write_parquet, write_tsv
    from reprlab.evaluation.completion_answers import answer, cell_prompts
    from reprlab.evaluation.completion_scores import COLUMNS, score_row
    from reprlab.models.build import load_model
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.log import get_logger
    from reprlab.runtime.progress import track
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.training.processes import choose_device

    if len(models) != len(settings.models):
        raise ReprlabError(f"models: {len(models)} folders for {len(settings.models)} models")
    opened = open_tokenizer(tokenizer)
    prompts = [cell_prompts(settings.prompts[cell.eval], cell, opened, settings) for cell in settings.cells]
    table = read_tsv(tuning) if tuning is not None else pandas.DataFrame()
    place = choose_device(device)
    rows, answers = [], []
    for folder, model in track(list(zip(models, settings.models, strict=True)), "models"):
        network: Any = load_model(folder)
        network.to(place).eval()
        chosen = table[(table["name"].astype(str) == model.name) & (table["chosen"] == 1)] if len(table) else table
        tuned = {str(name): value for name, value in chosen.iloc[0].items()} if len(chosen) else {}
        for part in track(prompts, "sets of prompts"):
            cell = part.cell
            if cell.names and model.name not in cell.names:
                continue
            get_logger().info("%s on %s (%s, %d shots, %s)", model.name, cell.eval, cell.fmt, cell.shots, cell.method)
            found = answer(network, part, opened, settings, inference_batch)
            rows.append(score_row(settings, model, part, found, tuned))
            answers += [
                (model.name, cell.eval, cell.fmt, str(cell.shots), cell.method, row["id"], gold, text)
                for row, gold, text in zip(part.rows, part.gold, found.answers, strict=True)
            ]
        del network
    write_tsv(out, pandas.DataFrame(rows, columns=COLUMNS))
    columns = dict(zip(PREDICTIONS, zip(*answers, strict=True), strict=True))
    write_parquet(predictions, pyarrow.table({name: list(values) for name, values in columns.items()}))


if __name__ == "__main__":
    run_stage(score_completions)
