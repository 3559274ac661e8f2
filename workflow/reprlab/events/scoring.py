"""Scored rows of retrievers and of classifiers of event pairs, with intervals over documents."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.artifacts.tables import write_parquet
from reprlab.evaluation.bootstrap import mean_interval
from reprlab.evaluation.relation_scores import all_pair_scores, confusion, related_counts, related_scores
from reprlab.evaluation.resampling import percentiles, resample_sums
from reprlab.events.baselines import relation_answers
from reprlab.events.documents import EventDocument
from reprlab.events.pairs import LabelledPairs, Ranking, known_pairs
from reprlab.events.settings import ALL, CANDIDATES, RELATED, PairTask
from reprlab.retrieval.search import kept_pairs, most_pairs_kept, rank_by_score
from reprlab.runtime.errors import ReprlabError

ROW = ("seed", "k", "name", "metric", "split", "subset", "value", "low", "high", "n", "steps", "tokens")
MODEL = "model"
_RESAMPLES = 1000


def retrieval_rows(
    documents: Sequence[EventDocument], rankings: dict[str, Ranking], ks: Sequence[int], split: str
) -> list[dict[str, Any]]:
    """Recall of related pairs (either end names the other), its ceiling, and how many pairs are left to classify.

    `greedy_oracle` is the recall of the gold relations as scores, ties by place: one good ranking, and no bound.
    `positive_share` is the share of related pairs among the candidates, over unordered pairs as is recall;
    `candidates` counts (head, tail) with tail among the k best of head, `all_pairs` n (n - 1). `hardness` is the share
    of words in common, in percent, of the sentences of retrieved unrelated pairs, less that of all unrelated pairs,
    mean over documents: by the retriever's own scores its negatives are hard whatever those mean.

    Raises:
        ReprlabError: more related pairs are kept than k partners can keep.
    """
    found = []
    for k in ks:
        counts = np.array([_retrieved(document, rankings[document.name], k) for document in documents], dtype=float)
        recalled, related, kept, best, greedy, candidates, pairs = counts.T
        rows = {
            "retrieval_recall": _ratio(recalled, related),
            "recall_ceiling": _ratio(best, related),
            "greedy_oracle": _ratio(greedy, related),
            "positive_share": _ratio(recalled, kept),
            "density": _ratio(related, pairs / 2),
            "saved": _ratio(pairs - candidates, pairs),
            "hardness": _hardness(documents, rankings, k),
        }
        about = {"k": k, "name": MODEL, "split": split, "subset": "", "n": len(documents)}
        found += [
            {**about, "metric": name, "value": value, "low": low, "high": high}
            for name, (value, low, high) in rows.items()
        ]
        totals = {"candidates": candidates.sum(), "all_pairs": pairs.sum()}
        found += [{**about, "metric": name, "value": float(value)} for name, value in totals.items()]
    return found


def retrieval_items(
    documents: Sequence[EventDocument], rankings: dict[str, Ranking], ks: Sequence[int], split: str
) -> list[dict[str, Any]]:
    """What of each document makes `retrieval_recall`, `positive_share` and `density`: unordered pairs."""
    found = []
    for k, document in itertools.product(ks, documents):
        related, kept = _pairs(document, rankings[document.name], k)
        counts = {"recalled": int((related & kept).sum()), "related": int(related.sum()), "kept": int(kept.sum())}
        pairs = len(document) * (len(document) - 1) // 2
        found.append({"k": k, "split": split, "document": document.name, **counts, "pairs": pairs})
    return found


def _pairs(document: EventDocument, ranking: Ranking, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Related and kept pairs [n, n], above the diagonal."""
    return np.triu(document.related, 1), np.triu(kept_pairs(ranking.ranked, k), 1)


def _retrieved(document: EventDocument, ranking: Ranking, k: int) -> tuple[int, ...]:
    related, kept = _pairs(document, ranking, k)
    size = len(document)
    recalled = int((related & kept).sum())
    greedy = int((related & np.triu(kept_pairs(gold_ranking(document), k), 1)).sum())
    return (
        recalled,
        int(related.sum()),
        int(kept.sum()),
        _ceiling(document, related, k, max(recalled, greedy), "kept"),
        greedy,
        size * min(k, max(size - 1, 0)),
        size * max(size - 1, 0),
    )


def _ceiling(document: EventDocument, related: np.ndarray, k: int, found: int, how: str) -> int:
    """The most of these related pairs [n, n] that k partners can keep; `found` of them must not be more."""
    most = most_pairs_kept(related, k)
    if found > most:
        raise ReprlabError(
            f"{document.name}: {found} related pairs are {how}, and k = {k} partners can keep {most}; rankings or "
            "answers are those of other settings: delete them and run again"
        )
    return most


def _unordered(document: EventDocument, pairs: np.ndarray) -> np.ndarray:
    """[n, n] bool above the diagonal: whether a pair is among `pairs`, in either order."""
    found = np.zeros((len(document), len(document)), dtype=bool)
    found[pairs[:, 0], pairs[:, 1]] = True
    return np.triu(found | found.T, 1)


def gold_ranking(document: EventDocument) -> np.ndarray:
    """[n, n-1] related mentions first, each part in textual order."""
    scores = document.related.astype(float)
    np.fill_diagonal(scores, -np.inf)
    return rank_by_score(scores, max(len(document) - 1, 0))


def _hardness(documents: Sequence[EventDocument], rankings: dict[str, Ranking], k: int) -> tuple[float, float, float]:
    gaps = []
    for document in documents:
        unrelated = np.triu(np.ones((len(document), len(document)), dtype=bool), 1) & ~document.related
        hard = unrelated & kept_pairs(rankings[document.name].ranked, k)
        if hard.any():
            alike = document.words_in_common
            gaps.append(100 * float(alike[hard].mean() - alike[unrelated].mean()))
    return mean_interval(gaps) if gaps else (float("nan"),) * 3


def _ratio(part: np.ndarray, whole: np.ndarray) -> tuple[float, float, float]:
    """100 sum(part) / sum(whole) with its 95 % interval over documents."""
    sums = resample_sums(np.stack([part, whole], axis=1), _RESAMPLES, 0)
    shares = 100 * np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0)
    value = 100 * part.sum() / whole.sum() if whole.sum() else 0.0
    return float(value), *percentiles(shares, len(part))


def classification_rows(
    documents: Sequence[EventDocument],
    classified: Sequence[LabelledPairs],
    predicted: Sequence[np.ndarray],
    settings: PairTask,
    split: str,
    answers: str = MODEL,
) -> list[dict[str, Any]]:
    """Scores of both regimes; `answers` says whose they are. Pairs that were not classified are predicted as unrelated.

    Subsets: `related` scores the relations alone (regime 1: micro), `all pairs` every label over every pair, and
    `retrieved or related` every label over the classified pairs and the related ones (regime 2, two denominators).

    Raises:
        ReprlabError: more relations of retrieved pairs are named rightly than k partners can keep.
    """
    classes = len(settings.labels) + 1
    if settings.inference == "retrieved":
        for document, pairs, labels in zip(documents, classified, predicted, strict=True):
            known = known_pairs(document, settings)
            right = _unordered(document, pairs.pairs[(labels == pairs.labels) & (labels > 0)])
            named = _unordered(document, known.pairs[known.labels > 0])
            _ceiling(document, named, settings.k, int(right.sum()), "named rightly")
    tables = np.array(
        [
            confusions(document, pairs, labels, settings)
            for document, pairs, labels in zip(documents, classified, predicted, strict=True)
        ]
    )
    found = []
    for subset, part, scores in (
        (RELATED, tables[:, 0], related_scores),
        (ALL, tables[:, 0], all_pair_scores),
        (CANDIDATES, tables[:, 1], all_pair_scores),
    ):
        total = scores(part.sum(0))
        drawn = scores(resample_sums(part.reshape(len(part), -1), _RESAMPLES, 0).reshape(-1, classes, classes))
        count = int(part[:, 1:].sum() if subset == RELATED else part.sum())
        for name, value in total.items():
            low, high = percentiles(drawn[name], len(part))
            row = {"metric": name, "value": float(value), "low": low, "high": high, "n": count}
            found.append({"k": settings.k, "name": answers, "split": split, "subset": subset, **row})
    return found


def scored_rows(
    documents: Sequence[EventDocument],
    classified: Sequence[LabelledPairs],
    predicted: Sequence[np.ndarray],
    settings: PairTask,
    split: str,
    training: Sequence[EventDocument],
) -> list[dict[str, Any]]:
    """`classification_rows` of a model, and of what needs none and is fitted on the training documents."""
    answers = {MODEL: predicted, **relation_answers(training, documents, classified, settings)}
    return [
        row
        for name, labels in answers.items()
        for row in classification_rows(documents, classified, labels, settings, split, name)
    ]


def confusions(
    document: EventDocument, classified: LabelledPairs, predicted: np.ndarray, settings: PairTask
) -> np.ndarray:
    """[2, C, C] confusion matrices of one document: over all its pairs, and the classified and the related ones."""
    classes = len(settings.labels) + 1
    known = known_pairs(document, settings)
    answers = np.zeros((len(document), len(document)), dtype=np.int64)
    asked = np.zeros(answers.shape, dtype=bool)
    answers[classified.pairs[:, 0], classified.pairs[:, 1]] = predicted
    asked[classified.pairs[:, 0], classified.pairs[:, 1]] = True
    first, second = known.pairs.T
    answer, seen = answers[first, second], asked[first, second] | (known.labels > 0)
    return np.stack([confusion(known.labels, answer, classes), confusion(known.labels[seen], answer[seen], classes)])


def classification_items(
    documents: Sequence[EventDocument],
    classified: Sequence[LabelledPairs],
    predicted: Sequence[np.ndarray],
    settings: PairTask,
    split: str,
) -> list[dict[str, Any]]:
    """What of each document makes precision, recall and F1 of regime 1; `half` is half of those named and related."""
    found = []
    for document, pairs, labels in zip(documents, classified, predicted, strict=True):
        right, named, related = map(int, related_counts(confusions(document, pairs, labels, settings)[0]))
        counts = {"right": right, "named": named, "related": related, "half": (named + related) / 2}
        found.append({"k": settings.k, "split": split, "subset": RELATED, "document": document.name, **counts})
    return found


def write_items(path: Path, rows: list[dict[str, Any]]) -> None:
    """The rows of `retrieval_items` or `classification_items` with their seed, as a table."""
    import pyarrow

    write_parquet(path, pyarrow.Table.from_pylist(rows))


def write_answers(path: Path, rows: list[dict[str, Any]]) -> None:
    """The rows of `prediction_rows` with their seed, as a table."""
    import pyarrow

    types = {"seed": "int64", "document": "string", "head": "int32", "tail": "int32", "gold": "string"}
    schema = pyarrow.schema([*types.items(), ("predicted", "string")])
    write_parquet(path, pyarrow.Table.from_pylist(rows, schema=schema))


def prediction_rows(
    documents: Sequence[EventDocument],
    classified: Sequence[LabelledPairs],
    predicted: Sequence[np.ndarray],
    settings: PairTask,
) -> list[dict[str, Any]]:
    """One row for each classified pair, with the names of the labels."""
    names = [settings.none, *settings.labels]
    return [
        {"document": document.name, "head": head, "tail": tail, "gold": names[gold], "predicted": names[label]}
        for document, pairs, labels in zip(documents, classified, predicted, strict=True)
        for (head, tail), gold, label in zip(pairs.pairs.tolist(), pairs.labels.tolist(), labels.tolist(), strict=True)
    ]
