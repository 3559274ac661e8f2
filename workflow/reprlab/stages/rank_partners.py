"""Rank the other events of its document for each event, and count what a retriever finds."""

from pathlib import Path
from typing import Any

from reprlab.events.settings import Retrieval
from reprlab.runtime.cli import run_stage


def rank_partners(
    *,
    examples: Path,
    out: Path,
    metrics: Path,
    counts: Path,
    settings: Retrieval,
    model: Path | None = None,
    tokenizer: Path | None = None,
    device: str = "cpu",
    inference_batch: int = 64,
    parses: Path | None = None,
) -> None:
    """Write `out`, a ranking `seed-<seed>.parquet` for each seed, and `metrics`, recall and candidates on each split.

    `counts` has what each document adds to these.

    Args:
        examples: documents with events.
        model: folder of the encoder, or of one such folder for each seed; none for random order.
        tokenizer: its folder, where that of the encoder has none.
        inference_batch: mentions in a forward pass; it does not change the result.
        parses: dependency trees of the documents, where they are the encoding.

    Raises:
        ReprlabError: unreadable inputs, or no model where one is needed.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.events.documents import load_events
    from reprlab.events.pairs import write_candidates
    from reprlab.events.parses import read_parses
    from reprlab.events.rankings import (
        mention_vectors,
        of_seed,
        rank_at_random,
        rank_by_chain,
        rank_by_distance,
        rank_mentions,
        selected,
    )
    from reprlab.events.scoring import ROW, retrieval_items, retrieval_rows, write_items
    from reprlab.events.sentence_graphs import graph_vectors
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import atomic_directory
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.processes import choose_device

    if model is None and settings.pooling not in ("random", "chains", "nearest"):
        raise ReprlabError(f"rank_partners: pooling {settings.pooling} needs a model")
    quiet_transformers()
    splits = selected(load_events(examples)[0], settings.events)
    documents = [document for part in splits.values() for document in part]
    rows, counted = [], []
    with atomic_directory(out) as folder:
        for seed in settings.seeds:
            if settings.pooling == "chains":
                rankings = rank_by_chain(documents, seed)
            elif settings.pooling == "nearest":
                rankings = rank_by_distance(documents)
            elif model is None or settings.pooling == "random":
                rankings = rank_at_random(documents, seed)
            else:
                place = model if (model / "config.json").exists() else of_seed(model, seed)
                if settings.events.encoding == "graph":
                    trees = read_parses(parses, documents)
                    vectors = graph_vectors(place, documents, trees, settings, choose_device(device), inference_batch)
                else:
                    encoder: Any = load_model(place)
                    encoder.to(choose_device(device))
                    reader = load_tokenizer(tokenizer or place)
                    vectors = mention_vectors(documents, settings, encoder, reader, inference_batch)
                rankings = rank_mentions(documents, vectors)
            write_candidates(folder / f"seed-{seed}.parquet", rankings)
            for split, part in splits.items():
                rows += [{"seed": seed, **row} for row in retrieval_rows(part, rankings, settings.ks, split)]
                counted += [{"seed": seed, **row} for row in retrieval_items(part, rankings, settings.ks, split)]
    write_items(counts, counted)
    write_tsv(metrics, pandas.DataFrame(rows, columns=ROW))


if __name__ == "__main__":
    run_stage(rank_partners)
