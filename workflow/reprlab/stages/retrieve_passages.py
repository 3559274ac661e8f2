"""Find passages for the queries of a collection, and measure what was found beside a random order of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.retrieval.rerank_settings import FirstStage
from reprlab.runtime.cli import run_stage

if TYPE_CHECKING:
    import numpy as np


def retrieve_passages(
    *,
    examples: Path,
    out: Path,
    metrics: Path,
    settings: FirstStage,
    model: Path | None = None,
    device: str = "cpu",
    inference_batch: int = 64,
) -> None:
    """Write `out` and `metrics`, rows of first stage and random order.

    `out` has a run `<split>.arrow` for each split, and `queries.parquet`, the metrics of each query that was asked.

    Args:
        examples: queries and passages.
        model: folder of the bi-encoder with its tokenizer, where the first stage is dense.
        inference_batch: texts in a forward pass; it does not change the result.

    Raises:
        ReprlabError: unreadable inputs, a split without queries, or no model where one is needed.
    """
    import contextlib
    import functools

    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.retrieval.bm25 import bm25_runs, dense_runs
    from reprlab.retrieval.collections import (
        RANDOM,
        metric_rows,
        query_scores,
        read_collection,
        without_own,
        write_query_scores,
    )
    from reprlab.retrieval.ranking_metrics import random_order_scores, ranking_scores
    from reprlab.retrieval.run_files import ENDING, run_writer
    from reprlab.retrieval.trec import without_ties
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import atomic_directory
    from reprlab.training.processes import choose_device

    if settings.kind == "dense" and model is None:
        raise ReprlabError("retrieve_passages: a dense first stage needs a model")
    collection = read_collection(examples)
    find: Callable[..., Any]
    depth = settings.depth + settings.drop_own
    if settings.kind == "dense" and model is not None:
        embed = _embedding(model, settings, device, inference_batch)
        place = choose_device(device)
        find = functools.partial(dense_runs, passages=collection.passages, depth=depth, embed=embed, device=place)
    else:
        find = functools.partial(bm25_runs, passages=collection.passages, depth=depth, k1=settings.k1, b=settings.b)
    queries = {
        split: collection.limited(split, settings.queries.get(split), settings.seed) for split in settings.splits
    }
    for split, texts in queries.items():
        if not texts:
            raise ReprlabError(f"{examples}: the split {split} has no query; name another split")
    # Together, so that passages are embedded or indexed once.
    named = [(split, name, text) for split, texts in queries.items() for name, text in texts.items()]
    asked = {str(number): settings.prefix + text for number, (_, _, text) in enumerate(named)}
    kinds = {settings.kind: ranking_scores, RANDOM: random_order_scores}
    scores: dict[tuple[str, str], list[Any]] = {(split, name): [] for split in settings.splits for name in kinds}
    with atomic_directory(out) as folder:
        with contextlib.ExitStack() as files:
            write = {
                split: files.enter_context(run_writer(folder / f"{split}.{ENDING}", settings.kind)) for split in queries
            }
            for part in find(asked):
                runs: dict[str, Any] = {}
                for number, ranked in part.items():
                    split, name, _ = named[int(number)]
                    hits = without_own(ranked, name, settings.depth) if settings.drop_own else ranked
                    runs.setdefault(split, {})[name] = hits
                for split, ties in runs.items():
                    run = without_ties(ties)
                    write[split](run)
                    judged = {name: collection.judgements[split][name] for name in run}
                    for name, scored in kinds.items():
                        scores[split, name].append(query_scores(run, judged, settings.metrics, scored))
        rows: list[dict[str, Any]] = []
        tables = []
        for (split, name), parts in scores.items():
            table = pandas.concat(parts, ignore_index=True)
            rows += metric_rows(table, settings.metrics, name=name, split=split)
            tables.append(table.assign(name=name, split=split))
        write_query_scores(folder, tables)
    write_tsv(metrics, pandas.DataFrame(rows))


def _embedding(model: Path, settings: FirstStage, device: str, batch_size: int) -> Callable[[list[str]], np.ndarray]:
    """Vectors of length 1 of texts, so that their products are cosines."""
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.retrieval.bi_encoder import embed, encode_texts
    from reprlab.text.encoding import padding_id
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.processes import choose_device

    quiet_transformers()
    tokenizer = load_tokenizer(model)
    encoder: Any = load_model(model)
    encoder.to(choose_device(device))

    def vectors(texts: list[str]) -> np.ndarray:
        import numpy as np

        ids = encode_texts(tokenizer, texts, settings.max_length)
        found = embed(encoder, ids, padding_id(tokenizer), settings.pooling, batch_size=batch_size)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)

    return vectors


if __name__ == "__main__":
    run_stage(retrieve_passages)
