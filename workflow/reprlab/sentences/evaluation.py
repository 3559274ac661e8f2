"""Tasks of the MTEB categories on examples of ours: each reads its texts once and gives one score with an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.evaluation.bootstrap import mean_interval
from reprlab.evaluation.resampling import percentiles
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences import task_scores as scores
from reprlab.sentences.contrastive import contrastive_loss
from reprlab.sentences.settings import DEPTH, MAIN_METRICS, Category, EmbeddingTask, TaskScores, TripleSample

if TYPE_CHECKING:
    import pyarrow

    from reprlab.sentences.triples import Triples

Encode = Callable[[Sequence[str], str], np.ndarray]
"""Vectors [n, d] of texts, with an instruction before each ("" for none)."""
Row = dict[str, Any]
_KINDS: dict[Category, tuple[str, ...]] = {
    "sts": ("similarity",),
    "retrieval": ("ranking",),
    # One candidate is right, or several.
    "reranking": ("choice", "ranking"),
    "clustering": ("single",),
    "pair_classification": ("pair",),
    "classification": ("single",),
}


def score_task(path: Path, task: EmbeddingTask, encode: Encode, settings: TaskScores, seed: int) -> Row:
    """The main score of a task, in percent, with its interval: over pairs, queries, texts or draws of examples.

    Of classification there is also `majority`, the share of the most frequent label.

    Raises:
        ReprlabError: the file is not of the task's kind, or has nothing in the split.
    """
    import pyarrow.compute

    from reprlab.artifacts.tables import read_parquet
    from reprlab.data.schema import schema_of
    from reprlab.data.splits import drawn

    table, kinds = read_parquet(path), _KINDS[task.category]
    if table.schema.remove_metadata() not in [schema_of(kind) for kind in kinds]:
        raise ReprlabError(f"{path}: its columns are not those of {' or '.join(kinds)}; delete it and run again")
    chosen = table.filter(pyarrow.compute.equal(table["split"], task.split))
    if not len(chosen):
        raise ReprlabError(f"{path}: no example in the split {task.split} for {task.name}")
    found = _SCORES[task.category](table, drawn(chosen, task.limit), task, encode, settings, seed)
    return {"dataset": task.name, "split": task.split, "metric": MAIN_METRICS[task.category], **found}


def sample_loss(encoder: Any, triples: Triples, sample: TripleSample, batch_size: int, dtype: str) -> Row:
    """The contrastive loss of an encoder on a sample of triples, in nats, with its interval over batches."""
    import torch

    from reprlab.sentences.encoder import embed

    rows = triples.sample(sample.batch_size, sample.batches, sample.seed)
    used = np.unique(rows)
    texts = triples.texts.chosen(np.concatenate([used + part * triples.count for part in range(3)]))
    vectors = torch.from_numpy(embed(encoder, texts, batch_size=batch_size, dtype=dtype))
    anchors, positives, negatives = vectors.chunk(3)
    losses = [
        contrastive_loss(anchors[batch], positives[batch], negatives[batch], sample.temperature)[0].item()
        for batch in torch.from_numpy(np.searchsorted(used, rows))
    ]
    value, low, high = mean_interval(losses, resamples=1000, seed=sample.seed)
    return {
        "dataset": "triples", "split": sample.split, "metric": "contrastive_loss",
        "value": value, "low": low, "high": high, "n": len(losses),
    }  # fmt: skip


def _over_units(values: np.ndarray, resamples: int, seed: int) -> Row:
    value, low, high = mean_interval((100 * values).tolist(), resamples=resamples, seed=seed)
    return {"value": value, "low": low, "high": high, "n": len(values)}


def _over_rows(statistic: Callable[..., float], columns: Sequence[np.ndarray], resamples: int, seed: int) -> Row:
    low, high = percentiles(scores.resampled(statistic, *columns, resamples=resamples, seed=seed), len(columns[0]))
    return {"value": 100 * statistic(*columns), "low": 100 * low, "high": 100 * high, "n": len(columns[0])}


def _sts(_: Any, rows: pyarrow.Table, task: EmbeddingTask, encode: Encode, settings: TaskScores, seed: int) -> Row:
    cosines = scores.cosines(*_both(rows, task, encode))
    return _over_rows(scores.spearman, [cosines, rows["score"].to_numpy()], settings.resamples, seed)


def _pairs(_: Any, rows: pyarrow.Table, task: EmbeddingTask, encode: Encode, settings: TaskScores, seed: int) -> Row:
    labels = rows["label"].to_pylist()
    same = np.array([label == task.same for label in labels], dtype=np.int64)
    if same.all() or not same.any():
        raise ReprlabError(f"{task.name}: every pair has the label {labels[0]!r}; `same` names one of two")
    cosines = scores.cosines(*_both(rows, task, encode))
    return _over_rows(scores.average_precision, [cosines, same], settings.resamples, seed)


def _both(rows: pyarrow.Table, task: EmbeddingTask, encode: Encode) -> tuple[np.ndarray, np.ndarray]:
    vectors = encode([*rows["text_a"].to_pylist(), *rows["text_b"].to_pylist()], task.instruction)
    return vectors[: len(rows)], vectors[len(rows) :]


def _retrieval(
    table: pyarrow.Table, rows: pyarrow.Table, task: EmbeddingTask, encode: Encode, settings: TaskScores, seed: int
) -> Row:
    # Those of the queries first, so that a part of the collection holds what is looked for.
    parts = (rows, table)
    passages = {
        name: text
        for part in parts
        for query, name, text in zip(
            *(part[column].to_pylist() for column in ("query_id", "passage_id", "passage")), strict=True
        )
        # A judged passage without a text is one that the collection lacks.
        if text or not query
    }
    passages = dict(list(passages.items())[: task.passages])
    queries = dict(zip(rows["query_id"].to_pylist(), rows["query"].to_pylist(), strict=True))
    # Passages that nobody judged are in the collection without a query.
    queries.pop("", None)
    judged: dict[str, dict[str, int]] = {}
    for query, passage, grade in zip(*(rows[name].to_pylist() for name in _JUDGED), strict=True):
        judged.setdefault(query, {})[passage] = grade
    asked = encode(list(queries.values()), task.instruction)
    found = encode(list(passages.values()), task.passage_instruction)
    values = scores.ndcg(asked, list(queries), found, list(passages), judged, DEPTH, drop_own=task.drop_own)
    return _over_units(values, settings.resamples, seed)


_JUDGED = ("query_id", "passage_id", "relevance")


def _reranking(
    _: Any, rows: pyarrow.Table, task: EmbeddingTask, encode: Encode, settings: TaskScores, seed: int
) -> Row:
    questions, candidates, relevant = (_one_right if "choices" in rows.column_names else _several_right)(rows)
    asked = encode(questions, task.instruction)
    found = encode([text for own in candidates for text in own], task.passage_instruction)
    starts = np.cumsum([0, *map(len, candidates)])
    values = scores.average_precisions(asked, found, starts, np.concatenate(relevant))
    return _over_units(values, settings.resamples, seed)


_Candidates = tuple[list[str], list[list[str]], list[np.ndarray]]


def _one_right(rows: pyarrow.Table) -> _Candidates:
    questions, choices, answers = (rows[name].to_pylist() for name in ("question", "choices", "answer"))
    return questions, choices, [np.arange(len(own)) == at for own, at in zip(choices, answers, strict=True)]


def _several_right(rows: pyarrow.Table) -> _Candidates:
    """By query; one without a relevant candidate has no score."""
    table = rows.to_pandas()
    parts = [part for _, part in table.groupby("query_id", sort=False) if part["relevance"].max() > 0]
    return (
        [part["query"].iloc[0] for part in parts],
        [part["passage"].tolist() for part in parts],
        [part["relevance"].to_numpy() > 0 for part in parts],
    )


def _clustering(
    _: Any, rows: pyarrow.Table, task: EmbeddingTask, encode: Encode, settings: TaskScores, seed: int
) -> Row:
    vectors = encode(rows["text"].to_pylist(), task.instruction)
    labels, subsets = np.array(rows["label"].to_pylist()), np.array(rows["subset"].to_pylist())
    parts = [subsets == name for name in np.unique(subsets)]
    # mteb's subsets are clustered one by one. Of one there are the clusters of several starts: what k-means draws is
    # what could be drawn anew.
    starts = range(settings.draws if len(parts) == 1 else 1)
    values = [
        scores.v_measure(vectors[part], labels[part].tolist(), seed + start) for part in parts for start in starts
    ]
    return _over_units(np.array(values), settings.resamples, seed)


def _classification(
    table: pyarrow.Table, rows: pyarrow.Table, task: EmbeddingTask, encode: Encode, settings: TaskScores, seed: int
) -> Row:
    import pyarrow.compute

    from reprlab.data.splits import drawn

    training = drawn(table.filter(pyarrow.compute.equal(table["split"], "train")), task.train_limit)
    if not len(training):
        raise ReprlabError(f"{task.name}: no training example to draw from")
    sides = [
        (encode(part["text"].to_pylist(), task.instruction), part["label"].to_pylist()) for part in (training, rows)
    ]
    values = scores.few_shot_accuracies(
        sides[0], sides[1], per_label=task.per_label or settings.per_label, draws=settings.draws, seed=seed
    )
    return {**_over_units(values, settings.resamples, seed), "majority": 100 * _largest_share(sides[1][1])}


def _largest_share(labels: Sequence[str]) -> float:
    return max(labels.count(label) for label in set(labels)) / len(labels)


_SCORES: dict[Category, Callable[..., Row]] = {
    "sts": _sts,
    "retrieval": _retrieval,
    "reranking": _reranking,
    "clustering": _clustering,
    "pair_classification": _pairs,
    "classification": _classification,
}
