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
    parses: Path | None = None,
) -> None:
    """Write `out`, a folder for each seed with encoder and tokenizer, and `metrics`, losses by step and seed.

    Args:
        examples: documents with events.
        model: folder of the encoder.
        work: folder that survives failure: an unfinished seed resumes exactly, finished ones are not trained again.
        parses: dependency trees of the documents, where they are the encoding.

    Raises:
        ReprlabError: unreadable inputs, or no document has two events.
    """
    import functools

    import torch

    from reprlab.events.documents import load_events
    from reprlab.events.encodings import MARKERS
    from reprlab.events.mention_inputs import closed_mentions
    from reprlab.events.parses import read_parses
    from reprlab.events.rankings import pair_sets, selected
    from reprlab.events.sentence_graphs import save_graph_encoder, sentence_graphs
    from reprlab.events.windows import open_word_tokenizer
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.models.dependency_graph import graph_encoder
    from reprlab.models.frozen_layers import freeze_lowest
    from reprlab.retrieval.bi_encoder import add_tokens, save_encoder
    from reprlab.retrieval.pair_training import EncodedTexts, text_vectors, train_bi_encoder
    from reprlab.text.encoding import padding_id
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.seeds import seeded, train_each_seed

    quiet_transformers()
    documents = selected(load_events(examples)[0], settings.events)["train"]
    trees = read_parses(parses, documents) if settings.events.encoding == "graph" else None

    def alone(seed: int) -> RetrieverTraining:
        training = settings.training.model_copy(update={"engine": seeded(settings.training.engine, seed)})
        return settings.model_copy(update={"training": training, "seeds": [seed]})

    def opened(one: RetrieverTraining) -> tuple[Any, Any, Any]:
        """The encoder, the texts that it reads, and how it is saved."""
        encoder, engine, longest = load_model(model), one.training.engine, one.training.max_length
        if trees is None:
            reader = load_tokenizer(tokenizer)
            add_tokens(reader, encoder, MARKERS, engine.seed)
            freeze_lowest(encoder, one.training.frozen_layers)
            texts = EncodedTexts(closed_mentions(reader, documents, one.events, longest), padding_id(reader))
            return text_vectors(encoder, one.training.pooling), texts, functools.partial(save_encoder, encoder, reader)
        reader = open_word_tokenizer(tokenizer)
        freeze_lowest(encoder, one.training.frozen_layers)
        torch.manual_seed(engine.seed)
        vectors_of = graph_encoder(encoder, one.graph_learning_rate / engine.optimizer.learning_rate)
        graphs = sentence_graphs(reader, documents, trees, longest)
        return vectors_of, graphs, functools.partial(save_graph_encoder, vectors_of, reader)

    def train_one(one: RetrieverTraining, folder: Path, identity: str) -> Any:
        vectors_of, texts, save = opened(one)
        run = train_bi_encoder(
            vectors_of,
            pair_sets(documents),
            texts,
            one.training,
            work=folder,
            save_every=save_every,
            fingerprint=identity,
            device=device,
        )
        return run, save

    files = [examples, *model.glob("*.*"), tokenizer / "tokenizer.json", *([parses] if parses else [])]
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
