"""Train one stage of a linear prefix: a map of music to vectors in front of a frozen language model's text."""

from pathlib import Path

from reprlab.music.prefix_settings import PrefixTraining
from reprlab.runtime.cli import run_stage


def train_prefix(
    *,
    model: Path,
    annotations: list[Path],
    states: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: PrefixTraining,
    fingerprint: str,
    start: Path | None = None,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Write `out`, the trained map, and `metrics`, the losses.

    Args:
        start: the prefix of stage one, whose map is the start.

    Raises:
        ReprlabError: unreadable inputs, a start of another shape, or SIGTERM came: the same command goes on.
    """
    from reprlab.artifacts.json_files import write_json
    from reprlab.artifacts.tsv import write_rows
    from reprlab.music.describer import ADAPTOR, target_loss
    from reprlab.music.linear_prefix import ABOUT, PrefixExamples, new_prefix
    from reprlab.music.training import load_examples
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
    network = new_prefix(model, (audio.shape[1], audio.shape[2]), settings, start)
    examples = PrefixExamples(open_tokenizer(model), tracks, audio, settings)
    run = train(
        network,
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
    parameters = sum(one.numel() for one in network.adaptor.parameters())
    about = {"steps": run.step, "tokens": run.tokens, "parameters": parameters, "vectors": settings.vectors}
    with atomic_directory(out) as folder:
        folder.mkdir(parents=True, exist_ok=True)
        network.save_adaptor(folder)
        write_json(folder / ABOUT, {**about, "diverged": run.diverged_at is not None})
    write_rows(metrics, [{**row, "cut_targets": examples.cut} for row in run.metrics])
    remove_directory(work)


if __name__ == "__main__":
    run_stage(train_prefix)
