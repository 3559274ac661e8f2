"""Silver coreference chains on running prose: a name that comes again is the same person, some become pronouns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from reprlab.coreference.names import FEMALE, MALE, PRONOUNS, is_capitalised, name_runs, title_gender, words_of
from reprlab.coreference.rows import Mention, chain_row
from reprlab.data.sources import Sources, segmented_sentences
from reprlab.data.splits import position
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

# Subject, object and genitive.
_FORMS = {MALE: ("he", "him", "his"), FEMALE: ("she", "her", "her")}
_PREPOSITIONS = frozenset(
    ["of", "to", "with", "from", "by", "for", "at", "on", "upon", "about", "between", "towards", "against", "before"]
)
_GENITIVE = ("'s", "’s")


class Settings(BaseModel):
    """Which names are taken, and how many of them become pronouns."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    least_count: int = Field(default=10, ge=1)
    """A word is a name if it is written with a capital within sentences so often in the corpus."""
    lower_share: float = Field(default=0.02, ge=0, le=1)
    """And if no larger share of its occurrences there is written without."""
    pronouns: float = Field(default=0.5, ge=0, le=1)
    """Probability that a later occurrence becomes a pronoun where it may."""
    least_mentions: int = Field(default=6, ge=2)
    """Passages with fewer mentions in chains are left out."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a passage; the group is the work, which is the document's id up to its last hyphen.

    Exact repetitions of a name within a passage are a chain. A later one becomes a pronoun with probability `pronouns`
    where its gender is known and no other name of that gender stands in this sentence or the one before: with a
    genitive 's the possessive, behind a preposition the object, else the subject. The pronouns of the text itself
    stay, in no chain.

    Raises:
        ReprlabError: no segmented sentences were given.
    """
    if not sources.documents:
        raise ReprlabError("no segmented sentences were given (--documents)")
    passages = [passage for path in sources.documents for passage in _passages(path)]
    names = _names(passages, settings)
    genders = _genders(passages, names)
    for document, key, sentences in passages:
        random = np.random.Generator(np.random.Philox(key=int(position(splits.seed, f"silver {key}") * 2**62)))
        written, chains = _with_pronouns(sentences, names, genders, settings.pronouns, random)
        if sum(map(len, chains)) >= settings.least_mentions:
            words = sum(map(len, written))
            yield chain_row(key, document.rpartition("-")[0] or document, written, ["-"] * words, chains, key)


def _passages(path: Path) -> Iterator[tuple[str, str, list[list[str]]]]:
    for row in segmented_sentences(path, ["document", "passage", "sentences"]).to_pylist():
        sentences = [words for sentence in row["sentences"] if (words := words_of(sentence))]
        yield row["document"], f"{row['document']}-{row['passage']}", sentences


def _names(passages: list[tuple[str, str, list[list[str]]]], settings: Settings) -> frozenset[str]:
    inside = Counter(word for _, _, sentences in passages for sentence in sentences for word in sentence[1:])
    return frozenset(
        word
        for word, count in inside.items()
        if is_capitalised(word)
        and count >= settings.least_count
        and inside[word.lower()] <= settings.lower_share * (count + inside[word.lower()])
    )


def _genders(passages: list[tuple[str, str, list[list[str]]]], names: frozenset[str]) -> dict[str, str]:
    """Gender of each name: that of its title, or of most pronouns behind it where it is a sentence's only name."""
    seen: dict[str, Counter[str]] = {}
    for _, _, sentences in passages:
        for sentence in sentences:
            runs = name_runs(sentence, names.__contains__)
            strings = {" ".join(sentence[start : end + 1]) for start, end in runs}
            for name in strings:
                seen.setdefault(name, Counter())
            if len(strings) == 1:
                pronouns = (PRONOUNS.get(word.lower()) for word in sentence[runs[0][1] + 1 :])
                seen[next(iter(strings))].update(one for one in pronouns if one)
    return {name: title_gender(name) or _majority(counts) for name, counts in seen.items()}


def _majority(counts: Counter[str]) -> str:
    """A gender with at least three pronouns and three times as many as the other."""
    most = max((MALE, FEMALE), key=lambda one: counts[one])
    return most if counts[most] >= max(3, 3 * (counts.total() - counts[most])) else ""


def _with_pronouns(
    sentences: list[list[str]],
    names: frozenset[str],
    genders: dict[str, str],
    share: float,
    random: np.random.Generator,
) -> tuple[list[list[str]], list[list[Mention]]]:
    """The passage with pronouns, and the mentions of each name that comes more than once."""
    written: list[list[str]] = []
    chains: dict[str, list[Mention]] = {}
    before: set[str] = set()
    done = 0
    for sentence in sentences:
        found: list[str] = []
        here: set[str] = set()
        place = 0
        for start, end in name_runs(sentence, names.__contains__):
            found += sentence[place:start]
            name = " ".join(sentence[start : end + 1])
            rivals = {one for one in before | here if one != name and genders[one] == genders[name]}
            form, skipped = _form(sentence, start, end, genders[name])
            if name in chains and form and not rivals and random.random() < share:
                mention = [form.capitalize() if not found else form]
            else:
                mention, skipped = sentence[start : end + 1], 0
            first = done + len(found)
            found += mention
            chains.setdefault(name, []).append((first, done + len(found) - 1))
            here.add(name)
            place = end + 1 + skipped
        found += sentence[place:]
        written.append(found)
        done += len(found)
        before = here
    return written, [chain for chain in chains.values() if len(chain) > 1]


def _form(sentence: list[str], start: int, end: int, gender: str) -> tuple[str, int]:
    """The pronoun that fits, and the words behind the name that it takes the place of; empty without a gender."""
    if not gender:
        return "", 0
    subject, other, genitive = _FORMS[gender]
    behind = sentence[end + 1] if end + 1 < len(sentence) else ""
    if behind in _GENITIVE:
        return genitive, 1
    if start and sentence[start - 1].lower() in _PREPOSITIONS:
        return other, 0
    return subject, 0
