"""Baselines of tables of examples: fitted on the training split, they answer another split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from reprlab.baselines.declared import declared
from reprlab.baselines.seen import seen_answers, sharing
from reprlab.baselines.texts import fitted_text
from reprlab.baselines.words import commonest, next_word_lookup, tag_lookup, word_lookup
from reprlab.evaluation.entities import entities
from reprlab.evaluation.examples import ExampleTable
from reprlab.runtime.errors import ReprlabError

Predictor = Callable[[ExampleTable, ExampleTable, Sequence[str], int], list[Any]]
_TARGETS = {"similarity": "score", "tags": "tags", "text_to_text": "targets"}
_TEXTS = {
    "single": ("text",),
    "pair": ("text_a", "text_b"),
    "similarity": ("text_a", "text_b"),
    "sentences": ("sentences",),
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
    if train.kind == "text_to_text" and name in _WRITTEN:
        return _WRITTEN[name](train, split, labels, seed)
    if name not in BASELINES and name not in _WRITTEN:
        raise ReprlabError(f"baseline {name!r}: unknown; one of {', '.join({**BASELINES, **_WRITTEN})}")
    kinds, predict = BASELINES.get(name, (("text_to_text",), _majority))
    if train.kind not in kinds:
        raise ReprlabError(f"baseline {name!r}: not for {train.kind} examples, only for {', '.join(kinds)}")
    return predict(train, split, labels, seed)


def seen_in_training(train: ExampleTable, split: ExampleTable) -> int | None:
    """How many rows of a split have an answer that training has (texts), or one of its entities (tags of spans);
    None: labels and scores, which all occur in training."""
    if train.kind == "text_to_text":
        return seen_answers(chain(*gold_of(train)), [texts[0] for texts in gold_of(split)])
    tags = {*chain(*train.columns.get("tags", [])), *chain(*split.columns.get("tags", []))}
    if train.kind == "tags" and all(tag == "O" or tag[1:2] == "-" for tag in tags):
        return sharing(_entities(train), _entities(split))
    return None


def _entities(table: ExampleTable) -> list[list[tuple[str, str]]]:
    rows = zip(table.columns["tokens"], table.columns["tags"], strict=True)
    return [[(" ".join(words[start:end]), kind) for start, end, kind in entities(tags)] for words, tags in rows]


def _majority(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
    gold = gold_of(train)
    if train.kind == "similarity":
        return [sum(gold) / len(gold)] * len(split)
    if train.kind == "tags":
        tag = commonest(chain(*gold))
        return [[tag] * len(tokens) for tokens in split.columns["tokens"]]
    return [commonest(gold)] * len(split)


def _random(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
    import numpy as np

    rng = np.random.Generator(np.random.Philox(key=seed))
    return [labels[number] for number in rng.integers(len(labels), size=len(split))]


def _written(name: str) -> Predictor:
    def predict(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
        answers = [texts[0] for texts in gold_of(train)]
        return fitted_text(name, train.columns["source"], answers)(split.columns["source"])

    return predict


def _by_word(lookup: Callable[..., Any]) -> Predictor:
    def predict(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
        found = tag_lookup(lookup, train.columns["tokens"], train.columns["tags"])
        return [found(tokens) for tokens in split.columns["tokens"]]

    return predict


def _texts(table: ExampleTable) -> list[list[str]]:
    """Each text column of a table as plain strings; a list of sentences is joined."""
    return [
        [text if isinstance(text, str) else " ".join(text) for text in table.columns[name]]
        for name in _TEXTS[table.kind]
    ]


def _fitted(vectors: Any, texts: Sequence[str]) -> Any:
    """The vectoriser, fitted; None where no text holds a word, of which scikit-learn says so in a ValueError alone."""
    analyse = vectors.build_analyzer()
    return vectors.fit(texts) if any(analyse(text) for text in texts) else None


def _tfidf(**how: Any) -> Predictor:
    """TF-IDF, each text column on its own, and logistic regression; of scores the cosine of the two texts."""

    def predict(train: ExampleTable, split: ExampleTable, labels: Sequence[str], seed: int) -> list[Any]:
        import numpy as np
        from scipy.sparse import hstack
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        if train.kind == "similarity":
            first, second = _texts(split)
            alone = {**how, "ngram_range": (1, 1)} if how["analyzer"] == "word" else how
            vectors = _fitted(TfidfVectorizer(**alone), [text for column in _texts(train) for text in column])
            if vectors is None:
                return [0.0] * len(split)
            product = vectors.transform(first).multiply(vectors.transform(second))
            return np.asarray(product.sum(axis=1)).ravel().tolist()
        gold = gold_of(train)
        fitted = [_fitted(TfidfVectorizer(sublinear_tf=True, **how), column) for column in _texts(train)]
        if len(set(gold)) < 2 or all(one is None for one in fitted):
            return _majority(train, split, labels, seed)

        def features(table: ExampleTable) -> Any:
            columns = zip(fitted, _texts(table), strict=True)
            return hstack([vectors.transform(column) for vectors, column in columns if vectors is not None]).tocsr()

        model = LogisticRegression(C=10.0, max_iter=1000, random_state=seed).fit(features(train), gold)
        return model.predict(features(split)).tolist()

    return predict


_LABELLED = ("single", "pair", "sentences")
BASELINES: dict[str, tuple[tuple[str, ...], Predictor]] = {
    "majority": ((*_LABELLED, "similarity", "tags"), _majority),
    "random": (_LABELLED, _random),
    "tfidf": ((*_LABELLED, "similarity"), _tfidf(analyzer="word", ngram_range=(1, 2))),
    "char_tfidf": ((*_LABELLED, "similarity"), _tfidf(analyzer="char_wb", ngram_range=(2, 5), max_features=2**18)),
    "word_majority": (("tags",), _by_word(word_lookup)),
    "next_word": (("tags",), _by_word(next_word_lookup)),
}
_WRITTEN = {name: _written(name) for name in declared("text")}
