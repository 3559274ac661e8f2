"""Verb senses of WordNet with the example sentences that use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reprlab.data.sources import expected_format
from reprlab.data.text_files import text_rows

_EXAMPLE = re.compile(r'"([^"]+)"')
_TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
# Detachment rules of WordNet's morphy for verbs: ending of the form, ending of the lemma.
_RULES = (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""))
_DOUBLED = ("ing", "ed")


@dataclass(frozen=True)
class Sense:
    """A synset of verbs: its usable examples as (tokens, place of the verb) and its pointers (symbol, synset)."""

    name: str
    examples: tuple[tuple[tuple[str, ...], int], ...]
    pointers: tuple[tuple[str, str], ...]


def read_senses(data: Path, exceptions: Path) -> Iterator[Sense]:
    """Every synset of `data.verb`; its examples are those in which a form of one of its verbs is found.

    Raises:
        ReprlabError: a line is not in WordNet's format.
    """
    irregular: dict[str, set[str]] = {}
    for _, line in text_rows(exceptions, "latin-1"):
        form, *lemmas = line.split() or [""]
        irregular.setdefault(form, set()).update(lemmas)
    for number, line in text_rows(data, "latin-1"):
        if not line or line.startswith("  "):
            continue
        with expected_format(f"{data}: line {number}", "a synset of WordNet"):
            yield _sense(line, irregular)


def _sense(line: str, irregular: dict[str, set[str]]) -> Sense:
    fields, _, gloss = line.partition(" | ")
    parts = fields.split()
    words = int(parts[3], 16)
    heads = {parts[4 + 2 * word].lower().split("_")[0] for word in range(words)}
    start = 4 + 2 * words
    rows = (parts[start + 1 + 4 * row : start + 5 + 4 * row] for row in range(int(parts[start])))
    pointers = tuple((symbol, target) for symbol, target, part, _ in rows if part == "v")
    examples = []
    for example in _EXAMPLE.findall(gloss):
        tokens = tuple(_TOKEN.findall(example))
        place = next((n for n, token in enumerate(tokens) if lemmas_of(token, irregular) & heads), None)
        if place is not None:
            examples.append((tokens, place))
    return Sense(parts[0], tuple(examples), pointers)


def lemmas_of(form: str, irregular: dict[str, set[str]]) -> set[str]:
    """What the verb form may be a form of: itself, by the exception list, by the rules of detachment."""
    form = form.lower()
    found = {form} | irregular.get(form, set())
    found |= {form[: -len(ending)] + lemma for ending, lemma in _RULES if form.endswith(ending)}
    for ending in _DOUBLED:
        stem = form.removesuffix(ending)
        if stem != form and len(stem) > 2 and stem[-1] == stem[-2]:
            found.add(stem[:-1])
    return found
