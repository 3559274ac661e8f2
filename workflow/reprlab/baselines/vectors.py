"""Vectors of texts that no model made: what a sentence encoder must beat before it knows more than words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.baselines.declared import declared
from reprlab.baselines.texts import WORDS as ANY_WORD
from reprlab.sentences.evaluation import Encode, score_task
from reprlab.sentences.settings import EmbeddingTask, TaskScores

RANDOM, WORDS, LEXICAL = declared("vectors")
FREQUENT = declared("labelled vectors")[-1]
_RANDOM_WIDTH = 64
# As wide as the largest decoders that are compared: a collection of their vectors has room.
_LEXICAL_WIDTH, _BUCKETS, _AT_ONCE = 4096, 2**20, 4096


def random_vectors(width: int, seed: int) -> Encode:
    """The baseline that knows nothing of a text: a vector drawn from the text itself, the same for equal texts."""
    from hashlib import blake2b

    def encode(texts: Sequence[str], _: str) -> np.ndarray:
        found = np.empty((len(texts), width), dtype=np.float32)
        for row, text in zip(found, texts, strict=True):
            key = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
            row[:] = np.random.Generator(np.random.Philox(key=[seed, key])).standard_normal(width)
        return found

    return encode


def character_ngrams(texts: Sequence[str], seed: int, width: int = _LEXICAL_WIDTH) -> Encode:
    """`tfidf_vectors` of the n-grams of 3 to 5 characters within words."""
    return tfidf_vectors(texts, seed, width, analyzer="char_wb", ngram_range=(3, 5))


def word_vectors(texts: Sequence[str], seed: int, width: int = _LEXICAL_WIDTH) -> Encode:
    """`tfidf_vectors` of the words."""
    return tfidf_vectors(texts, seed, width, **ANY_WORD)


def tfidf_vectors(texts: Sequence[str], seed: int, width: int, **how: Any) -> Encode:
    """TF-IDF of parts of texts, `how` as of scikit-learn; documents are counted in `texts`, labels unseen.

    The sparse vectors are projected to `width` dimensions, each part by four signs drawn with the seed, which keeps
    inner products up to noise of about sqrt(2 / width). Instructions are not read: every text would have their parts.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    hashed = HashingVectorizer(n_features=_BUCKETS, alternate_sign=False, norm=None, dtype=np.float32, **how)
    weighted = TfidfTransformer(sublinear_tf=True).fit(hashed.transform(texts))
    rng = np.random.Generator(np.random.Philox(key=seed))
    # One sign each would do for long texts; in short ones a shared place of two n-grams would weigh too much.
    signs = rng.choice(np.array([-0.5, 0.5], dtype=np.float32), 4 * _BUCKETS)
    places = rng.integers(0, width, 4 * _BUCKETS)
    sketch = csr_matrix((signs, places, 4 * np.arange(_BUCKETS + 1)), shape=(_BUCKETS, width))

    def encode(texts: Sequence[str], _: str) -> np.ndarray:
        found = np.empty((len(texts), width), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            part = weighted.transform(hashed.transform(texts[start : start + _AT_ONCE]))
            found[start : start + _AT_ONCE] = (part @ sketch).toarray()
        return found

    return encode


def _texts_of(path: Path) -> list[str]:
    """The distinct texts of a table of examples, in the order of their first place."""
    import pyarrow

    from reprlab.artifacts.tables import read_parquet

    table = read_parquet(path)
    found: dict[str, None] = {}
    for name in _TEXTS:
        if name in table.column_names:
            column = table[name].combine_chunks()
            flat = column.flatten() if pyarrow.types.is_list(column.type) else column
            found |= dict.fromkeys(flat.unique().to_pylist())
    return [text for text in found if text]


_TEXTS = ("text", "text_a", "text_b", "query", "passage", "question", "choices")
BASELINES: dict[str, Callable[[Path, int], Encode]] = {
    RANDOM: lambda _, seed: random_vectors(_RANDOM_WIDTH, seed),
    WORDS: lambda path, seed: word_vectors(_texts_of(path), seed),
    LEXICAL: lambda path, seed: character_ngrams(_texts_of(path), seed),
}


def score_baselines(path: Path, task: EmbeddingTask, settings: TaskScores, seed: int) -> list[dict[str, Any]]:
    """A row for each baseline of a task, with its interval; of classification also the most frequent label's."""
    rows = []
    for name, made in BASELINES.items():
        found = score_task(path, task, made(path, seed), settings, seed)
        share = found.pop("majority", None)
        rows.append({"name": name, **found})
    if share is not None:
        rows.append({"name": FREQUENT, **found, "value": share, "low": share, "high": share})
    return rows
