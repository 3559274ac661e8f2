"""Rows of documents with events: what the readers of event corpora share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reprlab.runtime.errors import ReprlabError

NO_CHAIN = -1


@dataclass(frozen=True)
class Mention:
    """One event mention: its trigger's tokens in the document (they need not be adjacent), class and chain."""

    name: str
    tokens: tuple[int, ...]
    kind: str = ""
    chain: int = NO_CHAIN


def event_row(
    name: str,
    group: str,
    sentences: Sequence[Sequence[str]],
    mentions: Iterable[Mention],
    relations: Iterable[tuple[str, str, str]],
    where: str,
) -> dict[str, Any]:
    """The row of one document: mentions in textual order, relations as (head, tail, label) by mention number.

    Of several labels of the same head and tail the first is kept.

    Raises:
        ReprlabError: a trigger lies outside the document or in no token, a mention or a sentence is empty, or a
            relation names a mention that is not there.
    """
    ordered = sorted(mentions, key=lambda mention: (mention.tokens, mention.name))
    tokens = [token for sentence in sentences for token in sentence]
    for mention in ordered:
        if not mention.tokens or not 0 <= min(mention.tokens) <= max(mention.tokens) < len(tokens):
            raise ReprlabError(f"{where}: the trigger of the mention {mention.name!r} is not in the document")
    number = {mention.name: place for place, mention in enumerate(ordered)}
    if len(number) != len(ordered):
        raise ReprlabError(f"{where}: two mentions have the same name")
    found: dict[tuple[int, int], str] = {}
    for head, tail, label in relations:
        if head not in number or tail not in number:
            raise ReprlabError(f"{where}: a relation names the mention {head!r} or {tail!r}, which is not there")
        if head != tail:
            found.setdefault((number[head], number[tail]), label)
    lengths = [len(sentence) for sentence in sentences]
    return {
        "id": name,
        "group": group,
        "tokens": tokens,
        "sentence_starts": [sum(lengths[:place]) for place, length in enumerate(lengths) if length],
        "mentions": [mention.name for mention in ordered],
        "triggers": ["_".join(map(str, mention.tokens)) for mention in ordered],
        "classes": [mention.kind for mention in ordered],
        "chains": [mention.chain for mention in ordered],
        "heads": [head for head, _ in found],
        "tails": [tail for _, tail in found],
        "relations": list(found.values()),
    }


class Chains:
    """Coreference chains from pairs of mentions (union-find); a mention alone has no chain."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def join(self, names: Sequence[str]) -> None:
        """Put all these mentions into one chain."""
        for name in names[1:]:
            self._parent[self._root(name)] = self._root(names[0])

    def _root(self, name: str) -> str:
        path = []
        while (parent := self._parent.setdefault(name, name)) != name:
            path.append(name)
            name = parent
        for visited in path:
            self._parent[visited] = name
        return name

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Chain number of each mention, `NO_CHAIN` where it is alone among `names`."""
        roots = {name: self._root(name) for name in names}
        members: dict[str, list[str]] = {}
        for name, root in roots.items():
            members.setdefault(root, []).append(name)
        chains = [group for group in members.values() if len(group) > 1]
        return dict.fromkeys(roots, NO_CHAIN) | {name: place for place, group in enumerate(chains) for name in group}
