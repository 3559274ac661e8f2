"""Trivial baselines: what a trained row must beat before it is above the trivial."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from reprlab.evaluation.examples import ExampleTable
from reprlab.runtime.errors import ReprlabError

Predictor = Callable[[ExampleTable, ExampleTable, Sequence[str], int], list[Any]]
_TARGETS = {"similarity": "score", "tags": "tags", "text_to_text": "targets"}
_TEXTS = {
    "single": ("text",),
    "pair": ("text_a", "text_b"),
    "similarity": ("text_a", "text_b"),
    "sentences": ("sentences",),
    "text_to_text": ("source",),
}


def gold_of(table: ExampleTable) -> list[Any]:
    """Gold values of a split: labels, scores, tags or accepted texts.

    Raises:
        ReprlabError: the kind of examples has no such column (span questions, rankings).
    """
    column = _TARGETS.get(table.kind, "label")
    if column not in table.columns:
        raise ReprlabError(f"{table.path}: {table.kind} examples have no trivial baselines here")
    return table.columns[column]


def predict_baseline(
    name: str, train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int
) -> list[Any]:
    """Predictions of baseline `name`, fitted on `train`, for each row of `split`.

    Raises:
        ReprlabError: unknown baseline, or one that makes no sense for this kind of examples.
    """
    if name not in BASELINES:
        raise ReprlabError(f"baseline {name!r}: unknown; one of {', '.join(BASELINES)}")
    kinds, predict = BASELINES[name]
    if train.kind not in kinds:
        raise ReprlabError(f"baseline {name!r}: not for {train.kind} examples, only for {', '.join(kinds)}")
    return predict(train, split, labels, seed)


def _majority(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
    gold = gold_of(train)
    if train.kind == "similarity":
        return [sum(gold) / len(gold)] * len(split)
    if train.kind == "tags":
        tag = _most_frequent(tag for tags in gold for tag in tags)
        return [[tag] * len(tokens) for tokens in split.columns["tokens"]]
    return [_most_frequent(texts[0] if train.kind == "text_to_text" else texts for texts in gold)] * len(split)


def _most_frequent(values: Any) -> Any:
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))


def _random(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
    import numpy as np

    rng = np.random.Generator(np.random.Philox(key=seed))
    return [labels[number] for number in rng.integers(len(labels), size=len(split))]


def _copy(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
    return list(split.columns["source"])


def _word_majority(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
    seen: dict[str, list[str]] = defaultdict(list)
    for tokens, tags in zip(train.columns["tokens"], train.columns["tags"], strict=True):
        for token, tag in zip(tokens, tags, strict=True):
            seen[token].append(tag)
    best = {token: _most_frequent(tags) for token, tags in seen.items()}
    fallback = _most_frequent(tag for tags in train.columns["tags"] for tag in tags)
    return [[best.get(token, fallback) for token in tokens] for tokens in split.columns["tokens"]]


def _texts(table: ExampleTable) -> list[list[str]]:
    """Each text column of a table as plain strings; a list of sentences is joined."""
    return [
        [text if isinstance(text, str) else " ".join(text) for text in table.columns[name]]
        for name in _TEXTS[table.kind]
    ]


def _tfidf(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
    """TF-IDF of words and word pairs, each text column on its own, and logistic regression; cosine for scores."""
    import numpy as np
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    if train.kind == "similarity":
        first, second = _texts(split)
        vectors = _fitted(TfidfVectorizer(), [text for column in _texts(train) for text in column])
        if vectors is None:
            return [0.0] * len(split)
        product = vectors.transform(first).multiply(vectors.transform(second))
        return np.asarray(product.sum(axis=1)).ravel().tolist()
    fitted = [_fitted(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), column) for column in _texts(train)]

    def features(table: ExampleTable) -> Any:
        columns = zip(fitted, _texts(table), strict=True)
        return hstack([vectors.transform(column) for vectors, column in columns if vectors is not None]).tocsr()

    gold = gold_of(train)
    if len(set(gold)) < 2 or all(one is None for one in fitted):
        return _majority(train, split, labels, seed)
    model = LogisticRegression(C=10.0, max_iter=1000, random_state=seed).fit(features(train), gold)
    return model.predict(features(split)).tolist()


def _fitted(vectors: Any, texts: Sequence[str]) -> Any:
    """The vectoriser, fitted; None where no text holds a word, of which scikit-learn says so in a ValueError alone."""
    analyse = vectors.build_analyzer()
    return vectors.fit(texts) if any(analyse(text) for text in texts) else None


_LABELLED = ("single", "pair", "sentences")
BASELINES: dict[str, tuple[tuple[str, ...], Predictor]] = {
    "majority": ((*_LABELLED, "similarity", "tags", "text_to_text"), _majority),
    "random": (_LABELLED, _random),
    "tfidf": ((*_LABELLED, "similarity"), _tfidf),
    "copy": (("text_to_text",), _copy),
    "word_majority": (("tags",), _word_majority),
}
