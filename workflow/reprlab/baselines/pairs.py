"""Baselines of pairs of texts (`structure.formats`), fitted on the pairs that the model is trained on alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from reprlab.baselines.declared import answer_of_pairs, declared
from reprlab.baselines.seen import plain, seen_answers, sharing
from reprlab.baselines.words import commonest, next_word_lookup, tag_lookup, word_lookup
from reprlab.structure import formats
from reprlab.structure.restoration import words
from reprlab.structure.seq2seq_settings import PairTask

Texts = Sequence[str]
Answer = Callable[[str], str]
_ENDS = (".", "!", "?")
_LOOKUPS = {"word_majority": word_lookup, "next_word": next_word_lookup}
# Of each item what must be in a text for it to be said: both ends of a triple, a verb and the words of a role.
Ends = tuple[str, ...]


def fitted(task: PairTask, sources: Texts, targets: Texts) -> dict[str, Answer]:
    """The declared baselines of a task by name, each as a function from source to answer.

    Tags: the tag of each word. Names: the type of each word, neighbours of one type together. Restoration: each word as
    it was most often written; one that training has not is not a name, or is left as it is. Items: those of training
    whose ends are in the text.
    """
    return {name: _fitted(name, task, sources, targets) for name in declared(answer_of_pairs(task))}


def _fitted(name: str, task: PairTask, sources: Texts, targets: Texts) -> Answer:
    if name == "copy":
        return lambda source: source
    if name == "nothing":
        return lambda source: formats.NOTHING
    if name == "rule":
        return rule
    if name == "known_items":
        assert task != "restoration"
        return _known_items(task, targets)
    if name == "majority":
        tag = commonest((tag for target in targets for tag in formats.tags_of(target)), formats.NOTHING)
        return lambda source: " ".join([tag] * len(source.split()))
    if task in formats.TAG_TASKS:
        return _joined(tag_lookup(_LOOKUPS[name], *_aligned(sources, map(formats.tags_of, targets))))
    if task == "restoration":
        return _joined(_LOOKUPS[name](*_aligned(sources, map(words, targets)), ""))
    return _names(name, sources, targets)


def seen_in_training(task: PairTask, sources: Texts, targets: Texts, scored: Texts, gold: Texts) -> int:
    """How many scored texts hold an item of training (both ends of a triple, a name with its type, …); of restoration
    and tags, how many have an answer that training has."""
    answer = answer_of_pairs(task)
    if answer in ("triples", "items", "roles") and task != "restoration":
        known = _known_items(task, targets)
        return sum(known(source) != formats.NOTHING for source in scored)
    if answer == "names":
        return sharing(*([formats.items("ner", one).items for one in texts] for texts in (targets, gold)))
    return seen_answers(targets, gold)


def rule(source: str) -> str:
    """A boundary behind each word that ends with `.`, `!` or `?`."""
    said = source.split()
    ends = [word.endswith(_ENDS) and place < len(said) for place, word in enumerate(said, start=1)]
    return " ".join(f"{word} {formats.BOUNDARY}" if end else word for word, end in zip(said, ends, strict=True))


def _joined(lookup: Callable[[Sequence[str]], list[str]]) -> Answer:
    return lambda source: " ".join(lookup(source.split()))


def _aligned(sources: Texts, answers: Iterator[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    pairs = [(source.split(), said) for source, said in zip(sources, answers, strict=True)]
    kept = [(given, said) for given, said in pairs if len(given) == len(said)]
    return [given for given, _ in kept], [said for _, said in kept]


def _names(name: str, sources: Texts, targets: Texts) -> Answer:
    """Types of lower-cased words, as items are compared; an item with semicolons is a triple."""
    texts = [source.lower().split() for source in sources]
    typed = []
    for text, target in zip(texts, targets, strict=True):
        own: dict[str, str] = {}
        for item in formats.items("ner", target).items:
            said, _, kind = item.rpartition(": ")
            own |= dict.fromkeys(said.split() if item.count(";") < 2 else (), kind)
        typed.append([own.get(word, formats.NOTHING) for word in text])
    lookup = _LOOKUPS[name](texts, typed, formats.NOTHING)

    def answer(source: str) -> str:
        said = source.split()
        kinds = lookup([word.lower() for word in said])
        runs = groupby(zip(kinds, said, strict=True), key=lambda one: one[0])
        found = [(kind, " ".join(word for _, word in run)) for kind, run in runs if kind != formats.NOTHING]
        return " ".join(f"({words}: {kind})" for kind, words in found) or formats.NOTHING

    return answer


def _known_items(task: formats.StructureTask, targets: Texts) -> Answer:
    """A table of the items of training; a text is answered with those whose ends it holds as whole words."""
    found: dict[str, dict[str, Ends]] = defaultdict(dict)
    for target in targets:
        for item in formats.items(task, target).items:
            ends = _ends(task, item)
            if all(ends):
                # Looked up by the rarest end is faster still; by its first word it is fast enough.
                found[ends[0].split()[0]][item] = ends
    written = _frames if task == "srl" else _in_parentheses

    def answer(source: str) -> str:
        text = f" {_spaced(source)} "
        near = dict.fromkeys(text.split())
        held = [
            item
            for word in near
            for item, ends in found.get(word, {}).items()
            if all(f" {one} " in text for one in ends)
        ]
        return written(held) or formats.NOTHING

    return answer


def _spaced(text: str) -> str:
    """Words and signs in lower case with spaces between, so that whole words are found."""
    return plain(re.sub(r"([^\w\s])", r" \1 ", text))


def _ends(task: PairTask, item: str) -> Ends:
    if task == "srl":
        verb, _, argument = item.partition("; ")
        return _spaced(verb), _spaced(argument.partition(": ")[2])
    if task == "multitask" and item.count(";") < 2:
        return ("",)
    parts = item.split(", " if task == "relations" else "; ")
    return (_spaced(parts[0]), _spaced(parts[-1])) if len(parts) > 2 else ("",)


def _in_parentheses(items: Sequence[str]) -> str:
    return " ".join(f"({item})" for item in items)


def _frames(items: Sequence[str]) -> str:
    """`verb (ROLE: words, …)` of `verb; role: words`."""
    by_verb: dict[str, list[str]] = defaultdict(list)
    for item in items:
        verb, _, argument = item.partition("; ")
        role, _, said = argument.partition(": ")
        by_verb[verb].append(f"{role.upper()}: {said}")
    return ", ".join(f"{verb} ({', '.join(said)})" for verb, said in by_verb.items())
