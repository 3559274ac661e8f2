"""Texts that need no model: fitted on training answers, cut from the input, or those of the nearest training input."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from reprlab.baselines.words import commonest

Texts = Sequence[str]
Answer = Callable[[Texts], list[str]]
# What scikit-learn takes for words: those of one letter are words, too.
WORDS: dict[str, Any] = {"analyzer": "word", "token_pattern": r"(?u)\b\w+\b"}
_SLOT = "\x00"
_FORMS = 50
# So many answers, spread over training, are enough to fit one text, which has at most so many words.
_FITTED, _LONGEST, _LEAD = 200, 120, 60
_NO_WORD = -1


def fitted_text(name: str, sources: Texts, answers: Texts) -> Answer:
    """Baseline `name` fitted on training pairs, as a function from inputs to answers."""
    return _FITTING[name](sources, answers)


def without_frame(training: Texts, texts: Texts) -> list[str]:
    """Inputs without the words that all training inputs begin with, such as those of a template."""
    # What the first and the last in alphabetical order have in common, all have.
    first, last = (min(training), max(training)) if len(set(training)) > 1 else ("", "")
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    common = first[:shared]
    words = common[: len(common) - len(re.split(r"\s", common)[-1])]
    return [text.removeprefix(words) for text in texts]


def constant_text(answers: Texts) -> str:
    """The one text that has the best mean ROUGE-L F with all answers, as far as a greedy search finds it.

    Beginning with nothing, the word and place are added that raise the mean most, until none does; each addition is
    exact: what it adds to the longest common subsequence follows from those of what is before and behind it.
    """
    tokens, spelled = _tokens(_spread(answers))
    vocabulary = sorted({token for one in tokens for token in one})
    number = {token: place for place, token in enumerate(vocabulary)}
    texts = [[number[token] for token in one] for one in tokens if one]
    if not texts:
        return ""
    lengths = np.array([len(one) for one in texts])
    # A text that is shorter is filled up with a word that nothing is equal to.
    padded = np.full((len(texts), lengths.max()), _NO_WORD)
    for row, one in zip(padded, texts, strict=True):
        row[: len(one)] = one
    chosen: list[int] = []
    best = 0.0
    while len(chosen) < _LONGEST:
        means = _insertions(np.array(chosen, dtype=int), padded, lengths, len(vocabulary))
        place, word = np.unravel_index(int(means.argmax()), means.shape)
        if means[place, word] <= best + 1e-12:
            break
        best = float(means[place, word])
        chosen.insert(int(place), int(word))
    return " ".join(spelled[vocabulary[word]] for word in chosen)


def _insertions(chosen: np.ndarray, texts: np.ndarray, lengths: np.ndarray, words: int) -> np.ndarray:
    """Mean ROUGE-L F of `chosen` [n] with each word put at each place [n + 1, words]; `texts` is padded."""
    n = len(chosen)
    before = _common(chosen, texts)
    behind = _common(chosen[::-1], texts[:, ::-1])[:, ::-1, ::-1]
    base = before[:, -1, -1]
    # With the word of a text's place j put at place i: what is before both, the word, what is behind both.
    gains = np.maximum(before[:, :, :-1] + 1 + behind[:, :, 1:] - base[:, None, None], 0)
    reach = n + 1 + lengths
    total = np.full((n + 1, words), (2 * base / reach).sum())
    for text, gained, length, whole in zip(texts, gains, lengths, reach, strict=True):
        order = np.argsort(text[:length], kind="stable")
        own, starts = np.unique(text[order], return_index=True)
        total[:, own] += 2 * np.maximum.reduceat(gained[:, order], starts, axis=1) / whole
    return total / len(texts)


def _common(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Lengths of the longest common subsequences of all beginnings [..., len(first) + 1, m + 1] of a text and of
    others [..., m]."""
    table = np.zeros((*second.shape[:-1], len(first) + 1, second.shape[-1] + 1))
    for place, word in enumerate(first):
        longer = np.maximum(table[..., place, 1:], table[..., place, :-1] + (second == word))
        table[..., place + 1, 1:] = np.maximum.accumulate(longer, axis=-1)
    return table


def _tokens(texts: Texts) -> tuple[list[list[str]], dict[str, str]]:
    """Stems as ROUGE compares them, and each stem's commonest word."""
    from rouge_score.tokenizers import DefaultTokenizer

    stems, plain = DefaultTokenizer(use_stemmer=True), DefaultTokenizer(use_stemmer=False)
    tokens = [stems.tokenize(text) for text in texts]
    spelled: dict[str, Counter[str]] = {}
    for text, stemmed in zip(texts, tokens, strict=True):
        for stem, word in zip(stemmed, plain.tokenize(text), strict=True):
            spelled.setdefault(stem, Counter())[word] += 1
    return tokens, {stem: min(found, key=lambda word: (-found[word], word)) for stem, found in spelled.items()}


def _spread(texts: Texts) -> list[str]:
    step = max(1, -(-len(texts) // _FITTED))
    return list(texts[::step])


def _majority(sources: Texts, answers: Texts) -> Answer:
    found = commonest(answers)
    return lambda texts: [found] * len(texts)


def _constant(sources: Texts, answers: Texts) -> Answer:
    found = constant_text(answers)
    return lambda texts: [found] * len(texts)


def _slot(sources: Texts, answers: Texts) -> Answer:
    """Of the commonest forms of an answer, with a slot where the input's first word is, the best one in training."""
    from reprlab.evaluation.metrics import rouge_l

    firsts = _first_words(without_frame(sources, sources))
    forms = Counter(_with_slot(answer, first) for answer, first in zip(answers, firsts, strict=True))
    tried = sorted(forms, key=lambda form: (-forms[form], form))[:_FORMS]
    shown, said = _spread(firsts), [[one] for one in _spread(answers)]
    means = [np.mean(rouge_l(said, [form.replace(_SLOT, first) for first in shown])) for form in tried]
    best = tried[int(np.argmax(means))]
    return lambda texts: [best.replace(_SLOT, first) for first in _first_words(without_frame(sources, texts))]


def _first_words(texts: Texts) -> list[str]:
    return [re.sub(r"^\W+|\W+$|['’]s$", "", text.split(maxsplit=1)[0]) if text.split() else "" for text in texts]


def _with_slot(answer: str, word: str) -> str:
    return re.sub(rf"\b{re.escape(word)}\b", _SLOT, answer) if word else answer


def _lead(sources: Texts, answers: Texts) -> Answer:
    """The input's first k words, with the k that is best in training."""
    starts = [" ".join(text.split()[:_LEAD]) for text in without_frame(sources, sources)]
    totals = np.zeros(_LEAD)
    for start, answer in zip(_spread(starts), _spread(answers), strict=True):
        (first, second), _ = _tokens([start, answer])
        number = {token: place for place, token in enumerate({*first, *second})}
        lengths = _common(*(np.array([number[token] for token in one], dtype=int) for one in (first, second)))[1:, -1]
        scores = np.zeros(_LEAD)
        k = min(len(first), _LEAD)
        scores[:k] = 2 * lengths[:k] / (np.arange(1, k + 1) + len(second))
        scores[k:] = scores[k - 1] if k else 0.0
        totals += scores
    best = int(totals.argmax()) + 1
    return lambda texts: [" ".join(text.split()[:best]) for text in without_frame(sources, texts)]


def fitted_words(texts: Texts, **how: Any) -> Any:
    """A vectoriser of TF-IDF of words, fitted; where no text holds a word all vectors are nought."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(**WORDS, **how)
    return vectors.fit(texts if any(map(vectors.build_analyzer(), texts)) else ["0"])


def _nearest(sources: Texts, answers: Texts) -> Answer:
    """The answer to the training input with the largest cosine by TF-IDF of words; of equal ones the first."""
    vectors = fitted_words(sources, sublinear_tf=True)
    known = vectors.transform(sources)

    def answer(texts: Texts) -> list[str]:
        return [answers[place] for place in (vectors.transform(texts) @ known.T).toarray().argmax(1)] if texts else []

    return answer


def _copy(sources: Texts, answers: Texts) -> Answer:
    return list


_FITTING: dict[str, Callable[[Texts, Texts], Answer]] = {
    "majority": _majority,
    "constant": _constant,
    "slot": _slot,
    "lead": _lead,
    "nearest": _nearest,
    "copy": _copy,
}
