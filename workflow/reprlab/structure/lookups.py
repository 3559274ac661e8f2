"""Baselines of pairs that read no further than a word: what it was most often in training, and rules of punctuation.

A lookup is fitted on the pairs that the model was trained on, and on nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from reprlab.structure import formats
from reprlab.structure.restoration import words
from reprlab.structure.seq2seq_settings import PairTask

Texts = Sequence[str]
Lookup = Callable[[str], str]
_ENDS = (".", "!", "?")


def fitted(task: PairTask, sources: Texts, targets: Texts) -> Lookup | None:
    """The lookup of a task as a function from source to answer; None where words by themselves have no answer.

    Tags: the tag of each word. Names: the type of each word, neighbours of one type together. Restoration: each word as
    it was most often written. Ties go to the first in alphabetical order; an unknown word gets the commonest tag, is
    not a name, is left as it is.
    """
    if task in formats.TAG_TASKS:
        pairs = [(source.split(), formats.tags_of(target)) for source, target in zip(sources, targets, strict=True)]
        return _tags(_most_frequent(_aligned(pairs)), _commonest(tag for _, tags in pairs for tag in tags))
    if task == "restoration":
        return _words(_most_frequent(_aligned((s.split(), words(t)) for s, t in zip(sources, targets, strict=True))))
    return _names(sources, targets) if task in ("ner", "multitask") else None


def rule(task: PairTask, source: str) -> str | None:
    """The answer of a rule: a boundary behind each word that ends with `.`, `!` or `?`; None for other tasks."""
    if task != "sbd":
        return None
    said = source.split()
    ends = [word.endswith(_ENDS) and place < len(said) for place, word in enumerate(said, start=1)]
    return " ".join(f"{word} {formats.BOUNDARY}" if end else word for word, end in zip(said, ends, strict=True))


def _aligned(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterable[tuple[str, str]]:
    for given, wanted in pairs:
        if len(given) == len(wanted):
            yield from zip(given, wanted, strict=True)


def _most_frequent(seen: Iterable[tuple[str, str]]) -> dict[str, str]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, answer in seen:
        counts[word][answer] += 1
    return {word: _first(found) for word, found in counts.items()}


def _commonest(values: Iterable[str]) -> str:
    return _first(Counter(values)) or formats.NOTHING


def _first(counts: Counter[str]) -> str:
    return min(counts, key=lambda one: (-counts[one], one), default="")


def _tags(known: dict[str, str], commonest: str) -> Lookup:
    return lambda source: " ".join(known.get(word, commonest) for word in source.split())


def _words(known: dict[str, str]) -> Lookup:
    return lambda source: " ".join(known.get(word, word) for word in source.split())


def _names(sources: Texts, targets: Texts) -> Lookup:
    """Types of lower-cased words, as items are compared; an item with semicolons is a triple."""
    seen = Counter(word.lower() for source in sources for word in source.split())
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for target in targets:
        for item in formats.items("ner", target).items:
            said, _, kind = item.rpartition(": ")
            for word in said.split() if item.count(";") < 2 else ():
                types[word][kind] += 1
    known = {word: _first(found) for word, found in types.items() if 2 * found.total() > seen[word]}

    def answer(source: str) -> str:
        typed = [(word, known.get(word.lower(), "")) for word in source.split()]
        runs = [(kind, [word for word, _ in run]) for kind, run in groupby(typed, key=lambda one: one[1]) if kind]
        return " ".join(f"({' '.join(said)}: {kind})" for kind, said in runs) or formats.NOTHING

    return answer
