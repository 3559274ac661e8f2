"""Fine-tune every checkpoint of a ladder on one task with every learning rate of a sweep."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.training.finetuning_settings import FinetuneSettings

PREDICTIONS = ["name", "learning_rate", "split", "id", "subset", "label", "prediction", "eval_mode"]


def finetune_model(
    *,
    models: list[Path],
    names: list[str],
    tokenizer: Path,
    examples: Path,
    out_metrics: Path,
    out_predictions: Path,
    work: Path,
    settings: FinetuneSettings,
    fingerprint: str,
    save_every: int = 500,
    device: str = "cpu",
    inference_batch: int = 64,
) -> None:
    """Fine-tune, predict and score, one cell per checkpoint and learning rate, all in one process.

    Args:
        models: checkpoint folders that `from_pretrained` opens.
        names: one name per model, such as `step-00000400`.
        tokenizer: its folder.
        examples: table of examples with a training split and the splits to score.
        out_metrics: TSV, one row per checkpoint, learning rate, split, subset, metric and evaluation mode; in percent,
            with 95 % intervals over examples.
        out_predictions: Parquet, one row per scored example. Where the settings keep models, the folder `models` lies
            beside both, with a folder for each checkpoint and learning rate (with PEMA the reduced model).
        work: folder that survives failure: unfinished cells resume exactly, finished ones are not run again. A cell
            belongs to the settings but for the other learning rates, so a longer sweep keeps the cells it has.
        fingerprint: identity of the code; settings and the bytes of the inputs are added to it.
        save_every: updates between resume points.
        inference_batch: examples per batch of predictions.

    Raises:
        ReprlabError: unreadable inputs, labels outside the set, or a template that does not fit the examples.
    """
    import pandas
    import pyarrow

    from reprlab.artifacts.tables import write_parquet, write_tsv
    from reprlab.evaluation.scoring import METRIC_COLUMNS
    from reprlab.models.build import quiet_transformers
    from reprlab.runtime.log import get_logger
    from reprlab.runtime.progress import track
    from reprlab.training.finetuned_models import kept_name, publish_models
    from reprlab.training.finetuning import cell_fingerprint, finetune_cell, prepare_task, require_names

    quiet_transformers()
    require_names(models, names)
    prepared = prepare_task(examples, tokenizer, settings)
    metrics, predictions, kept = [], [], {}
    for model, name in track(list(zip(models, names, strict=True)), "models"):
        for learning_rate in settings.learning_rates:
            get_logger().info("fine-tuning %s with learning rate %g", name, learning_rate)
            cell = work / name / f"lr-{learning_rate:g}"
            rows, answers = finetune_cell(
                prepared,
                settings,
                model,
                name,
                learning_rate,
                work=cell,
                save_every=save_every,
                fingerprint=cell_fingerprint(fingerprint, settings, [model, tokenizer, examples], learning_rate),
                device=device,
                evaluation_batch=inference_batch,
            )
            metrics += rows
            predictions += answers
            if settings.keep:
                kept[kept_name(name, learning_rate)] = cell / "model"
    if not metrics:
        return  # one of several processes, and not the one that predicts
    publish_models(kept, out_metrics.parent / "models")
    write_tsv(out_metrics, pandas.DataFrame(metrics, columns=METRIC_COLUMNS))
    schema = pyarrow.schema([(column, "float64" if column == "learning_rate" else "string") for column in PREDICTIONS])
    write_parquet(out_predictions, pyarrow.Table.from_pylist(predictions, schema=schema))


if __name__ == "__main__":
    run_stage(finetune_model)
