"""Lookups word by word: what was answered to a word most often, and to a word before another word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

Words = Sequence[str]
Lookup = Callable[[Words], list[str]]
_OUTSIDE = "O"
_CAPITAL, _SMALL, _DIGIT, _RUNS = map(re.compile, (r"[A-Z]", r"[a-z]", r"\d", r"(.)\1+"))


def commonest(values: Iterable[Any], default: Any = "") -> Any:
    """The most frequent value; of equally frequent ones the first in alphabetical order."""
    counts = Counter(values)
    return min(counts, key=lambda one: (-counts[one], str(one)), default=default)


def best_answers(seen: Iterable[tuple[Any, str]]) -> dict[Any, str]:
    """The most frequent answer of each key; of equally frequent ones the first in alphabetical order."""
    counts = Counter(seen)
    ranked = sorted(counts, key=lambda one: (-counts[one], one[1]))
    # The last one that is written stays.
    return dict(reversed(ranked))


def shape(word: str) -> str:
    """How a word is written: `X` for capitals, `x` for small letters, `d` for digits, other signs; each run once."""
    return _RUNS.sub(r"\1", _DIGIT.sub("d", _SMALL.sub("x", _CAPITAL.sub("X", word))))


def word_lookup(texts: Sequence[Words], answers: Sequence[Words], default: str | None = None) -> Lookup:
    """The commonest answer of each word; an unknown word gets the commonest of all, or `default`, or is left as it is
    where the default is empty."""
    known = best_answers(zip(chain(*texts), chain(*answers), strict=True))
    other = commonest(chain(*answers)) if default is None else default
    return lambda words: [known.get(word, other or word) for word in words]


def next_word_lookup(texts: Sequence[Words], answers: Sequence[Words], default: str | None = None) -> Lookup:
    """The commonest answer of a word before the word behind it; of a pair that training has not, of the word; of such a
    word, what words of its shape have that training has once."""
    flat, said = list(chain(*texts)), list(chain(*answers))
    following = [word for text in texts for word in (*text[1:], "")][: len(flat)]
    single = best_answers(zip(flat, said, strict=True))
    double = best_answers(zip(zip(flat, following, strict=True), said, strict=True))
    # What is learned of shapes is for words that are new: those that occur once show it.
    counts = Counter(flat)
    rare = [(shape(word), answer) for word, answer in zip(flat, said, strict=True) if counts[word] == 1]
    shapes = best_answers(rare)
    other = commonest(said) if default is None else default

    def answer(words: Words) -> list[str]:
        pairs = zip(words, (*words[1:], ""), strict=True)
        return [double.get(pair) or single.get(pair[0]) or unknown(pair[0]) for pair in pairs]

    def unknown(word: str) -> str:
        return (other or word) if default is not None else shapes.get(shape(word), other)

    return answer


def tag_lookup(
    fit: Callable[[Sequence[Words], Sequence[Words]], Lookup], texts: Sequence[Words], tags: Sequence[Words]
) -> Lookup:
    """A lookup of tags. Of tags that say where a span begins (`B-`, `I-`) the types are looked up, and neighbours of
    one type are one span: by itself, the word inside a name would begin another."""
    known = set(chain(*tags))
    if not all(tag == _OUTSIDE or tag[:2] in ("B-", "I-") for tag in known):
        return fit(texts, tags)
    found = fit(texts, [[tag[2:] or _OUTSIDE for tag in one] for one in tags])

    def answer(words: Words) -> list[str]:
        kinds = found(words)
        return [_spelled(kind, before, known) for kind, before in zip(kinds, ("", *kinds), strict=False)]

    return answer


def _spelled(kind: str, before: str, known: set[str]) -> str:
    if kind == _OUTSIDE:
        return kind
    wanted, other = (f"I-{kind}", f"B-{kind}") if kind == before else (f"B-{kind}", f"I-{kind}")
    return wanted if wanted in known else other
