"""Fine-tune a bi-encoder to find the events that are related to an event, once for each seed."""

from pathlib import Path
from typing import Any

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

    from reprlab.events.documents import load_events
    from reprlab.events.encodings import MARKERS
    from reprlab.events.mention_inputs import closed_mentions
    from reprlab.events.rankings import pair_sets, selected
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.retrieval.bi_encoder import add_tokens, save_encoder
    from reprlab.retrieval.pair_training import train_bi_encoder
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.seeds import seeded, train_each_seed

    quiet_transformers()
    documents = selected(load_events(examples)[0], settings.events)["train"]

    def alone(seed: int) -> RetrieverTraining:
        training = settings.training.model_copy(update={"engine": seeded(settings.training.engine, seed)})
        return settings.model_copy(update={"training": training, "seeds": [seed]})

    def train_one(one: RetrieverTraining, folder: Path, identity: str) -> Any:
        encoder, reader = load_model(model), load_tokenizer(tokenizer)
        add_tokens(reader, encoder, MARKERS, one.training.engine.seed)
        run = train_bi_encoder(
            encoder,
            pair_sets(documents),
            closed_mentions(reader, documents, one.events, one.training.max_length),
            reader.pad_token_id,
            one.training,
            work=folder,
            save_every=save_every,
            fingerprint=identity,
            device=device,
        )
        return run, functools.partial(save_encoder, encoder, reader)

    files = [examples, *model.glob("*.*"), tokenizer / "tokenizer.json"]
    train_each_seed(
        settings.seeds,
        alone,
        lambda seed: files,
        train_one,
        out=out,
        metrics=metrics,
        work=work,
        fingerprint=fingerprint,
    )


if __name__ == "__main__":
    run_stage(train_retriever)
