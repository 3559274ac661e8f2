"""Fine-tune checkpoints of a decoder on prompts with completions, and keep the fine-tuned models."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.training.completion_settings import CompletionTuningSettings


def finetune_completions(
    *,
    models: list[Path],
    names: list[str],
    tokenizer: Path,
    prompts: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: CompletionTuningSettings,
    fingerprint: str,
    save_every: int = 500,
    device: str = "cpu",
) -> None:
    """Fine-tune every model with every learning rate; write a folder per name into `out`, and a table of losses.

    Of several learning rates the one with the lowest loss on held-out rows is kept (`chosen` in the table). Unfinished
    cells in `work` resume exactly, finished ones are not run again.

    Args:
        models: checkpoint folders that `from_pretrained` opens.
        names: one name per model.
        prompts: rows to train on and held-out rows.

    Raises:
        ReprlabError: unreadable inputs, or no row has a target.
    """
    import shutil

    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import quiet_transformers
    from reprlab.runtime.files import atomic_directory, remove_directory
    from reprlab.runtime.log import get_logger
    from reprlab.runtime.progress import track
    from reprlab.text.completions import read_completions
    from reprlab.text.encoding import padding_id
    from reprlab.text.tokenizer_folder import copy_tokenizer, open_tokenizer
    from reprlab.training.completion_texts import encode_completions
    from reprlab.training.completion_tuning import TrainingData, best_row, tune_cell
    from reprlab.training.finetuning import require_names
    from reprlab.training.fingerprints import run_fingerprint
    from reprlab.training.ladder import link_or_copy

    quiet_transformers()
    require_names(models, names)
    opened = open_tokenizer(tokenizer)
    rows, _ = read_completions(prompts)
    parts = {
        role: encode_completions(opened, [row for row in rows if row["role"] == role], settings.max_length)
        for role in ("train", "held_out")
    }
    data = TrainingData(parts["train"], parts["held_out"], padding_id(opened))
    table, kept = [], {}
    for model, name in track(list(zip(models, names, strict=True)), "models"):
        found = []
        for rate in settings.learning_rates:
            get_logger().info("fine-tuning %s with learning rate %g", name, rate)
            alone = settings.model_copy(update={"learning_rates": [rate]})
            files = [prompts, tokenizer / "tokenizer.json", model / "config.json", *model.glob("*.safetensors")]
            cell = work / name / f"lr-{rate:g}"
            identity = run_fingerprint(fingerprint, alone, files)
            row = tune_cell(
                data, settings, model, rate, work=cell, save_every=save_every, fingerprint=identity, device=device
            )
            found.append((row, cell / "model"))
        made = [(row, folder) for row, folder in found if row is not None]
        if not made:
            continue  # one of several processes, and not the one that writes
        best = best_row([row for row, _ in made])
        kept[name] = made[best][1]
        table += [{"name": name, **row, "chosen": int(place == best)} for place, (row, _) in enumerate(made)]
    if not table:
        return
    with atomic_directory(out) as folder:
        for name, source in kept.items():
            shutil.copytree(source, folder / name, copy_function=link_or_copy)
            copy_tokenizer(tokenizer, folder / name)
    write_rows(metrics, table)
    remove_directory(work)


if __name__ == "__main__":
    run_stage(finetune_completions)
