"""Fine-tune a bi-encoder to find the events that are related to an event, once for each seed."""

from pathlib import Path

from reprlab.events.settings import RetrieverTraining
from reprlab.runtime.cli import run_stage


def train_retriever(
    *,
    examples: Path,
    model: Path,
    tokenizer: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: RetrieverTraining,
    fingerprint: str,
    save_every: int = 200,
    device: str = "cpu",
) -> None:
    """Write `out`, a folder for each seed with encoder and tokenizer, and `metrics`, losses by step and seed.

    Args:
        examples: documents with events.
        model: folder of the encoder.
        work: folder that survives failure: an unfinished seed resumes exactly, finished ones are not trained again.

    Raises:
        ReprlabError: unreadable inputs, or no document has two events.
    """
    import functools
    import shutil

    from reprlab.artifacts.tsv import write_rows
    from reprlab.events.documents import load_events
    from reprlab.events.encodings import MARKERS
    from reprlab.events.mention_inputs import closed_mentions
    from reprlab.events.rankings import pair_sets, selected
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.retrieval.bi_encoder import add_tokens, save_encoder
    from reprlab.retrieval.pair_training import train_bi_encoder
    from reprlab.runtime.files import atomic_directory
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.fingerprints import run_fingerprint
    from reprlab.training.seeds import finished_seed, keep_seed, seeded

    quiet_transformers()
    documents = selected(load_events(examples)[0], settings.events)["train"]
    rows = []
    for seed in settings.seeds:
        training = settings.training.model_copy(update={"engine": seeded(settings.training.engine, seed)})
        alone = settings.model_copy(update={"training": training, "seeds": [seed]})
        identity = run_fingerprint(fingerprint, alone, [examples, *model.glob("*.*"), tokenizer / "tokenizer.json"])
        if found := finished_seed(work, seed, identity):
            rows += found
            continue
        encoder, reader = load_model(model), load_tokenizer(tokenizer)
        add_tokens(reader, encoder, MARKERS, seed)
        ids = closed_mentions(reader, documents, settings.events, training.max_length)
        run = train_bi_encoder(
            encoder,
            pair_sets(documents),
            ids,
            reader.pad_token_id,
            training,
            work=work / f"seed-{seed}",
            save_every=save_every,
            fingerprint=identity,
            device=device,
        )
        if not run.is_main:
            continue
        found = [{"seed": seed, **row} for row in run.metrics]
        keep_seed(work, seed, identity, found, functools.partial(save_encoder, encoder, reader))
        rows += found
    if not rows:
        return
    with atomic_directory(out) as folder:
        for seed in settings.seeds:
            shutil.copytree(work / f"seed-{seed}" / "model", folder / f"seed-{seed}")
    write_rows(metrics, rows)
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    run_stage(train_retriever)
