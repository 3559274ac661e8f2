"""Train an encoder-decoder on pairs of texts, with teacher forcing, and keep a ladder of checkpoints."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.structure.seq2seq_settings import PairTraining


def train_seq2seq(
    *,
    pairs: Path,
    tokenizer: Path,
    init: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: PairTraining,
    fingerprint: str,
    moments: Path | None = None,
    keep_moments: bool = False,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Train from `init`, a model or a ladder, and write the ladder and the losses.

    The log names a digest of pairs, batches and learning rates: arms that are compared have the same. `epoch` of the
    losses counts passes over the pairs.

    Args:
        moments: ladder of a run that kept Adam's moments, with which this one begins; none: they begin at 0.
        keep_moments: keep them beside the last step of this run: twice the size of the model.

    Raises:
        ReprlabError: unreadable inputs, moments of another model, or the loss is not a number.
    """
    import torch

    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import quiet_transformers
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import remove_directory
    from reprlab.runtime.log import get_logger
    from reprlab.structure.seq2seq import course_of, engine_of, load_pairs, order_of, pair_task
    from reprlab.text.tokenizer_folder import vocabulary_file
    from reprlab.training import moments as adam
    from reprlab.training.engine import train
    from reprlab.training.fingerprints import run_fingerprint
    from reprlab.training.ladder import find_step, keep_step, publish_ladder, step_folder
    from reprlab.training.processes import join_processes

    quiet_transformers()
    source = init if settings.init_step is None else find_step(init, settings.init_step)
    files = [pairs, vocabulary_file(tokenizer), source / "config.json", *source.glob("*.safetensors")]
    held = None if moments is None else adam.moments_of(moments)
    files += [held] if held else []
    identity = run_fingerprint(fingerprint, settings, files)
    task = pair_task(tokenizer, settings.input_length, settings.target_length)
    table = load_pairs(pairs, "train", copied=settings.copied)
    data = task.encode(table)
    engine = engine_of(settings, len(data))
    order = order_of(settings, data)
    get_logger().info(
        "%d pairs, %d updates, course %s", len(data), engine.steps, course_of(order, engine, table.columns["id"])
    )
    # Points of a run by other settings would be among its own, of which the newest two are kept.
    points = work / f"run-{identity[:16]}"
    ladder = points / "ladder"
    model = task.load(source, settings.dropout)
    if held:
        group = join_processes(device)
        if group.is_main:
            adam.begin_with_moments(held, model, engine.optimizer, work=points, fingerprint=identity)
        group.wait()

    def batch_of(step: int, part: int, rank: int, world: int) -> dict[str, torch.Tensor]:
        share = order.rows(step)[rank * engine.accumulation + part :: world * engine.accumulation]
        return task.batch(data, share)

    run = train(
        model,
        batch_of,
        task.loss,
        engine,
        work=points,
        save_every=save_every,
        fingerprint=identity,
        on_checkpoint=lambda step, model: keep_step(model, ladder, step, tokenizer),
        device=device,
    )
    if not run.is_main:
        return
    if run.diverged_at is not None:
        raise ReprlabError(f"{out}: the training diverged at step {run.diverged_at}; set a lower learning rate")
    passed = engine.batch_size / len(data)
    write_rows(metrics, [{**row, "epoch": row["step"] * passed} for row in run.metrics])
    if keep_moments:
        adam.keep_moments(points / f"resume-{engine.steps:08d}", step_folder(ladder, engine.steps))
    publish_ladder(ladder, out, None)
    remove_directory(work)


if __name__ == "__main__":
    run_stage(train_seq2seq)
