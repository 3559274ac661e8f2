"""Let a trained encoder-decoder answer pairs; what it writes is scored by a stage of its own."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.structure.seq2seq_settings import GenerationSettings


def generate_seq2seq(
    *,
    pairs: Path,
    tokenizer: Path,
    models: Path,
    out: Path,
    settings: GenerationSettings,
    device: str = "cpu",
    inference_batch: int = 32,
) -> None:
    """Write `out`: id, task, split, source, target and prediction of each pair.

    Args:
        models: the ladder, or the folder of a model that is not trained on pairs (step null, no ladder in it).
        inference_batch: pairs at once; it does not change the result.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.models.build import quiet_transformers
    from reprlab.structure.answers import write_answers
    from reprlab.structure.seq2seq import answers, load_pairs, pair_task
    from reprlab.training.ladder import find_step
    from reprlab.training.processes import choose_device

    quiet_transformers()
    place = choose_device(device)
    steps = sorted(models.glob("step-*"))
    folder = find_step(models, settings.step) if settings.step is not None else steps[-1] if steps else models
    task = pair_task(tokenizer, settings.input_length, settings.max_length)
    table = load_pairs(pairs, settings.split, settings.limit)
    network = task.load(folder, 0.0).to(place).eval()
    write_answers(out, table, answers(network, task, task.encode(table), settings, place, inference_batch))


if __name__ == "__main__":
    run_stage(generate_seq2seq)
