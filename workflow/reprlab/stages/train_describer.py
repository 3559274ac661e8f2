"""Train one stage of a describer: the adaptor on captions, or adaptor and LoRA on descriptions."""

from pathlib import Path

from reprlab.music.settings import DescriberTraining
from reprlab.runtime.cli import run_stage


def train_describer(
    *,
    model: Path,
    annotations: list[Path],
    states: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: DescriberTraining,
    fingerprint: str,
    start: Path | None = None,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Write `out`, the trained adaptor and LoRA, and `metrics`, the losses.

    Args:
        start: the describer of stage one, whose adaptor is the start.

    Raises:
        ReprlabError: unreadable inputs, or SIGTERM came: the same command goes on.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.music.describer import ADAPTOR, Examples, target_loss
    from reprlab.music.training import load_examples, new_describer, save_describer
    from reprlab.runtime.files import atomic_directory, remove_directory
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.training.engine import train
    from reprlab.training.fingerprints import run_fingerprint

    read = [*annotations, states, model / "config.json", *sorted(model.glob("*.safetensors"))]
    identity = run_fingerprint(fingerprint, settings, [*read, *([start / ADAPTOR] if start else [])])
    # What is described afterwards is read as well, so that a lack of it is told before the first update.
    (tracks, audio), _ = (load_examples(annotations, states, split) for split in ("train", "test"))
    engine = settings.engine
    if settings.epochs is not None:
        steps = max(1, round(settings.epochs * len(tracks) / engine.batch_size))
        warmup = min(engine.schedule.warmup_steps, steps - 1)
        schedule = engine.schedule.model_copy(update={"warmup_steps": warmup})
        engine = engine.model_copy(update={"steps": steps, "schedule": schedule})
    describer = new_describer(model, audio.shape[-1], settings, start)
    examples = Examples(open_tokenizer(model), tracks, audio, settings)
    run = train(
        describer,
        examples,
        target_loss,
        engine,
        work=work,
        save_every=save_every,
        fingerprint=identity,
        on_checkpoint=lambda step, trained: None,
        device=device,
    )
    if not run.is_main:
        return
    about = {"steps": run.step, "tokens": run.tokens, "cut_targets": examples.cut, "examples": len(tracks)}
    with atomic_directory(out) as folder:
        save_describer(describer, folder, {**about, "diverged": run.diverged_at is not None})
    write_rows(metrics, [{**row, "cut_targets": examples.cut} for row in run.metrics])
    remove_directory(work)


if __name__ == "__main__":
    run_stage(train_describer)
