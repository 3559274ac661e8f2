"""Words and definitions of WordNet as triples, and as one small task of each MTEB category."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources
from reprlab.data.splits import position, split_of
from reprlab.data.wordnet_glosses import Synset, read_synsets
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

Form = Literal[
    "words_to_definition",
    "definition_to_words",
    "definition_to_example",
    "candidates",
    "search",
    "same",
    "likeness",
    "topic",
]
_CANDIDATES = 10
_HIGHEST = 6
_LEAST_WORDS = 4


class Settings(BaseModel):
    """Which file, and what is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: str
    """Member with the synsets (`data.noun`, `data.verb`)."""
    form: Form
    """What an example is: three kinds of triples, then candidates to rerank, a collection to search, pairs that belong
    together or not, pairs with the likeness of their synsets, and texts with a topic."""
    share: float = Field(default=1.0, gt=0, le=1)
    """Share of the groups that is read, of synsets whose definition has at least four words."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """Examples of the form. Synsets under one synset are a group; negatives and pairs come from one split alone.

    Raises:
        ReprlabError: the file is not WordNet's, or nothing of this form is found in it.
    """
    path = sources.archive.member(settings.data)
    synsets = list(read_synsets(path))
    forms: dict[Form, Callable[[_Taxonomy], Iterator[dict[str, Any]]]] = {
        "words_to_definition": lambda taxonomy: taxonomy.triples(_words, _definition),
        "definition_to_words": lambda taxonomy: taxonomy.triples(_definition, _words),
        "definition_to_example": lambda taxonomy: taxonomy.triples(_definition, _example),
        "candidates": _Taxonomy.candidates,
        "search": _Taxonomy.search,
        "same": _Taxonomy.same,
        "likeness": _Taxonomy.likeness,
        "topic": _Taxonomy.topics,
    }
    rows = list(forms[settings.form](_Taxonomy(synsets, settings.share, splits)))
    if not rows:
        raise ReprlabError(f"{path}: no synset gives an example of the form {settings.form}; read a larger share")
    yield from rows


def _words(synset: Synset) -> str:
    return ", ".join(synset.words)


def _definition(synset: Synset) -> str:
    return synset.definition


def _example(synset: Synset) -> str:
    return synset.examples[0] if synset.examples else ""


def _group(synset: Synset) -> str:
    return synset.above or synset.name


class _Taxonomy:
    """Synsets by name and by group, and what is drawn from them: each draw by a generator of the synset's name."""

    def __init__(self, synsets: list[Synset], share: float, splits: SplitSettings) -> None:
        self.splits = splits
        # Of all synsets, also those that are not read: how deep one lies does not depend on the share.
        self.parent = {one.name: one.above for one in synsets}
        self.all = [
            one
            for one in synsets
            if len(one.definition.split()) >= _LEAST_WORDS and position(splits.seed, f"read {_group(one)}") < share
        ]
        self.below: dict[str, list[Synset]] = defaultdict(list)
        for one in self.all:
            self.below[_group(one)].append(one)

    def _draw(self, synset: Synset, what: str) -> random.Random:
        return random.Random(f"{self.splits.seed} {what} {synset.name}")

    def _siblings(self, synset: Synset) -> list[Synset]:
        return [one for one in self.below[_group(synset)] if one.above and one.name != synset.name and synset.above]

    def triples(self, ask: Callable[[Synset], str], answer: Callable[[Synset], str]) -> Iterator[dict[str, Any]]:
        """Question, its answer, and the answer of a synset under the same one."""
        for one in self.all:
            others = [found for other in self._siblings(one) if (found := answer(other)) and found != answer(one)]
            if answer(one) and others:
                yield _choice(one, ask(one), [answer(one), self._draw(one, "negative").choice(others)], 0)

    def candidates(self) -> Iterator[dict[str, Any]]:
        """The definition of some words among those of synsets under the same one."""
        for one in self.all:
            others = sorted({other.definition for other in self._siblings(one)} - {one.definition})
            if len(others) >= 2:
                rng = self._draw(one, "candidates")
                choices = [one.definition, *rng.sample(others, min(_CANDIDATES - 1, len(others)))]
                rng.shuffle(choices)
                yield _choice(one, _words(one), choices, choices.index(one.definition))

    def search(self) -> Iterator[dict[str, Any]]:
        """Words as queries, definitions as passages."""
        for one in self.all:
            texts = {"query_id": one.name, "query": _words(one), "passage_id": one.name, "passage": one.definition}
            yield {**_about(one), **texts, "relevance": 1}

    def same(self) -> Iterator[dict[str, Any]]:
        """Words with their definition, and with that of a synset under the same one."""
        for one in self.all:
            if others := [other for other in self._siblings(one) if other.definition != one.definition]:
                other = self._draw(one, "same").choice(others)
                for label, text in (("same", one.definition), ("other", other.definition)):
                    yield {**_about(one, label), "text_a": _words(one), "text_b": text, "label": label}

    def likeness(self) -> Iterator[dict[str, Any]]:
        """Two definitions with the Wu-Palmer similarity of their synsets: the gold is the taxonomy's, not people's."""
        parts: dict[str, dict[str, list[Synset]]] = defaultdict(lambda: defaultdict(list))
        for one in self.all:
            part = parts[split_of(_group(one), self.splits)]
            for name in self._above(one):
                part[name].append(one)
        for split, under in parts.items():
            for one in under.get("", []):
                # Partners under the same synset so many levels up: from siblings to anything.
                rng = self._draw(one, "likeness")
                chain = self._above(one)
                top = chain[min(rng.randint(1, _HIGHEST), len(chain) - 1)]
                other = rng.choice(under[top])
                if other.name != one.name:
                    row = {"text_a": one.definition, "text_b": other.definition, "score": self._likeness(one, other)}
                    yield {**_about(one), "split": split, **row}

    def topics(self) -> Iterator[dict[str, Any]]:
        """Definitions with their lexicographer file."""
        for one in self.all:
            yield {**_about(one), "text": one.definition, "label": one.topic}

    def _above(self, synset: Synset) -> list[str]:
        """Names from the synset itself up to the root, which is "" for all."""
        chain = [synset.name]
        while (above := self.parent.get(chain[-1], "")) and above not in chain:
            chain.append(above)
        return [*chain, ""]

    def _likeness(self, one: Synset, other: Synset) -> float:
        """2 depth(lowest common) / (depth + depth), the root having depth 1 (Wu and Palmer 1994)."""
        first, second = self._above(one), self._above(other)
        common = next(place for place, name in enumerate(first) if name in set(second))
        return 2 * (len(first) - common) / (len(first) + len(second))


def _about(synset: Synset, part: str = "") -> dict[str, Any]:
    return {"id": synset.name + (f"-{part}" if part else ""), "group": _group(synset)}


def _choice(synset: Synset, question: str, choices: list[str], answer: int) -> dict[str, Any]:
    return {**_about(synset), "context": "", "question": question, "choices": choices, "answer": answer}
