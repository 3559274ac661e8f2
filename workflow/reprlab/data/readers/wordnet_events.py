"""Documents assembled from WordNet's verbs: each mention is a verb sense in its own example sentence.

The sentences and the relations are real; which of them are in a document together is drawn by us.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.event_rows import NO_CHAIN, Mention, event_row
from reprlab.data.sources import Sources
from reprlab.data.wordnet_verbs import Sense, read_senses
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

# Pointer symbols of data.verb; `$` (verb group) makes coreference chains instead of a relation.
_LABELS = {">": "CAUSE", "*": "ENTAILS", "@": "HYPERNYM"}
_GROUP = "$"


class Settings(BaseModel):
    """Which files, and how documents are drawn."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: str
    """Member with the verb synsets (`data.verb`)."""
    exceptions: str
    """Member with the irregular forms (`verb.exc`)."""
    documents: dict[str, int] = {"train": 300, "validation": 60, "test": 60}
    """Documents of each split."""
    smallest: int = Field(default=10, ge=2)
    """Fewest mentions of a document."""
    largest: int = Field(default=24, ge=2)
    """Most mentions of a document."""
    density: float = Field(default=0.1, gt=0, lt=1)
    """Share of the unordered pairs of mentions that are related, at which a document takes no further relative."""
    cluster: float = Field(default=5.0, gt=1)
    """Mean number of senses in a cluster of relatives."""
    rare_starts: float = Field(default=0.5, ge=0, le=1)
    """Share of the clusters that start from a CAUSE or ENTAILS pair, which are rare."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """Assembled documents. A tree of hypernyms lies in one split whole, so that no sense is in two.

    Raises:
        ReprlabError: the files are not WordNet's, or too few senses fall into a split.
    """
    archive = sources.archive
    path = archive.member(settings.data)
    senses = {sense.name: sense for sense in read_senses(path, archive.member(settings.exceptions)) if sense.examples}
    shares = {"train": splits.train, "validation": splits.validation, "test": splits.test}
    for split, names in _split_trees(senses, shares).items():
        if len(names) < settings.largest:
            raise ReprlabError(f"{path}: {len(names)} senses with examples are too few for the {split} split")
        pool = _Pool({name: senses[name] for name in names}, settings, random.Random(f"{splits.seed} {split}"))
        for number in range(settings.documents[split]):
            name = f"{split}-{number:04d}"
            yield {**pool.document(name, str(path)), "split": split}


def _split_trees(senses: dict[str, Sense], shares: dict[str, float]) -> dict[str, list[str]]:
    """Whole hypernym trees, the largest first, to the split that lacks the most."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while (above := parent.setdefault(name, name)) != name:
            parent[name] = parent[above]
            name = parent[name]
        return name

    for sense in senses.values():
        for symbol, target in sense.pointers:
            if symbol == "@" and target in senses:
                parent[root(sense.name)] = root(target)
    trees: dict[str, list[str]] = {}
    for name in senses:
        trees.setdefault(root(name), []).append(name)
    found: dict[str, list[str]] = {split: [] for split, share in shares.items() if share > 0}
    for tree in sorted(trees.values(), key=lambda names: (-len(names), names[0])):
        lacking = max(found, key=lambda split: shares[split] * len(senses) - len(found[split]))
        found[lacking] += tree
    return found


class _Pool:
    """The senses of one split, and documents drawn from them."""

    def __init__(self, senses: dict[str, Sense], settings: Settings, rng: random.Random) -> None:
        self.senses, self.settings, self.rng = senses, settings, rng
        self.names = list(senses)
        self.near: dict[str, list[tuple[str, int]]] = {name: [] for name in senses}
        self.labels: dict[tuple[str, str], str] = {}
        self.grouped: set[tuple[str, str]] = set()
        for sense in senses.values():
            for symbol, target in sense.pointers:
                if target in senses and (symbol in _LABELS or symbol == _GROUP):
                    for one, other in ((sense.name, target), (target, sense.name)):
                        self.near[one] += [(other, example) for example in range(len(senses[other].examples))]
                    if symbol == _GROUP:
                        self.grouped.add((sense.name, target))
                    else:
                        self.labels[sense.name, target] = _LABELS[symbol]
        self.connected = [name for name in self.names if self.near[name]]
        self.rare = [pair for pair, label in self.labels.items() if label != "HYPERNYM"]
        if not self.connected:
            raise ReprlabError("wordnet_events: no two senses with examples are related")

    def document(self, name: str, where: str) -> dict[str, Any]:
        """One document: walks over the pointers until enough pairs are related, then senses drawn at random."""
        settings = self.settings
        size = self.rng.randint(settings.smallest, settings.largest)
        wanted = settings.density * size * (size - 1) / 2
        chosen: list[tuple[str, int]] = []
        cluster: list[str] = []
        while len(chosen) < size:
            item = self._next(chosen, cluster, wanted)
            if item in chosen:
                # Where few senses are related, no further start is found: a distractor takes the place.
                item = self._example(self.rng.choice(self.names))
            if item not in chosen:
                chosen.append(item)
        self.rng.shuffle(chosen)
        sentences, mentions, start = [], [], 0
        chains = self._chains(chosen)
        for number, (sense, example) in enumerate(chosen):
            tokens, place = self.senses[sense].examples[example]
            sentences.append([*tokens, "."] if tokens[-1] not in ".!?" else list(tokens))
            mentions.append(Mention(f"{sense}.{example}", (start + place,), "verb", chains[number]))
            start += len(sentences[-1])
        relations = [(f"{a}.{m}", f"{b}.{n}", label) for (a, m), (b, n), label in self._relations(chosen)]
        return event_row(name, name, sentences, mentions, relations, where)

    def _relations(self, chosen: list[tuple[str, int]]) -> Iterator[tuple[tuple[str, int], tuple[str, int], str]]:
        for head in chosen:
            for tail in chosen:
                if label := self.labels.get((head[0], tail[0])):
                    yield head, tail, label

    def _next(self, chosen: list[tuple[str, int]], cluster: list[str], wanted: float) -> tuple[str, int]:
        """A distractor once enough pairs are related; before, a relative of the cluster or the start of a new one."""
        if sum(1 for _ in self._relations(chosen)) >= wanted:
            return self._example(self.rng.choice(self.names))
        near = [item for name in cluster for item in self.near[name] if item not in chosen]
        if near and self.rng.random() >= 1 / self.settings.cluster:
            cluster.append((item := self.rng.choice(near))[0])
            return item
        rare = self.rare and self.rng.random() < self.settings.rare_starts
        cluster[:] = [self.rng.choice(self.rare)[0] if rare else self.rng.choice(self.connected)]
        return self._example(cluster[0])

    def _example(self, name: str) -> tuple[str, int]:
        return name, self.rng.randrange(len(self.senses[name].examples))

    def _chains(self, chosen: list[tuple[str, int]]) -> list[int]:
        """Chain of each chosen mention: examples of one synset, or of two in a verb group."""
        chain = list(range(len(chosen)))
        for i, (first, _) in enumerate(chosen):
            for j, (second, _) in enumerate(chosen[:i]):
                if first == second or (first, second) in self.grouped or (second, first) in self.grouped:
                    old, new = chain[i], chain[j]
                    chain = [new if number == old else number for number in chain]
        return [number if chain.count(number) > 1 else NO_CHAIN for number in chain]
