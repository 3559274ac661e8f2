"""Paraphrase or not by word scrambling, after the idea of PAWS (Zhang et al. 2019), from the sentences of a corpus."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, segmented_sentences
from reprlab.data.splits import position
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

# Leaving one of these out hardly changes what a sentence says.
_LIGHT = frozenset(
    {
        *("the", "a", "an", "very", "also", "then", "now", "just", "quite", "rather", "so", "too", "indeed"),
        *("perhaps", "only", "even", "still", "again", "really"),
    }
)


class Settings(BaseModel):
    """Which sentences are taken, and how much is scrambled."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_words: int = Field(default=8, ge=4)
    """Shorter sentences are left out."""
    max_words: int = Field(default=16, ge=4)
    """Longer sentences are left out."""
    swaps: int = Field(default=2, ge=1)
    """Pairs of words that are exchanged in an example of `no`."""
    pairs: int = Field(default=2_000, ge=2)
    """Examples at most, spread over the whole corpus."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """A sentence and its edit; the group is the document.

    Every edit leaves out one light word; in half of the examples, drawn by hash, words change places as well, so that
    the same words say something else or nothing: these are not paraphrases.

    Raises:
        ReprlabError: no segmented sentences were given, or too few can be edited.
    """
    if not sources.documents:
        raise ReprlabError("no segmented sentences were given (--documents)")
    found = [pair for path in sources.documents for pair in _sentences(path, settings)]
    if len(found) < 2:
        where = ", ".join(map(str, sources.documents))
        raise ReprlabError(f"{where}: {len(found)} sentences can be edited, which is too few; take a larger corpus")
    chosen = sorted(found, key=lambda pair: position(splits.seed, pair[1]))[: settings.pairs]
    for document, name, words in chosen:
        random = np.random.Generator(np.random.Philox(key=int(position(splits.seed, f"edit {name}") * 2**62)))
        label = "yes" if random.random() < 0.5 else "no"
        edited = _light_edit(words, random)
        if label == "no":
            edited = _scrambled(edited, settings.swaps, random)
        yield {
            "id": name,
            "group": f"pairs:{document}",
            "text_a": " ".join(words),
            "text_b": " ".join(edited),
            "label": label,
        }


def _sentences(path: Any, settings: Settings) -> Iterator[tuple[str, str, list[str]]]:
    seen: set[str] = set()
    for row in segmented_sentences(path, ["document", "passage", "sentences"]).to_pylist():
        for number, sentence in enumerate(row["sentences"]):
            words = sentence.split()
            if not settings.min_words <= len(words) <= settings.max_words or sentence in seen:
                continue
            if any(word.lower() in _LIGHT for word in words[1:]) and len({word.lower() for word in words}) >= 6:
                seen.add(sentence)
                yield row["document"], f"{row['document']}-{row['passage']}-{number}", words


def _light_edit(words: list[str], random: np.random.Generator) -> list[str]:
    places = [place for place, word in enumerate(words) if place and word.lower() in _LIGHT]
    gone = places[int(random.integers(len(places)))]
    return [*words[:gone], *words[gone + 1 :]]


def _scrambled(words: list[str], swaps: int, random: np.random.Generator) -> list[str]:
    # First and last word stay: capitals and full stops would give the answer away.
    inner = np.arange(1, len(words) - 1)
    order = random.permutation(inner)[: 2 * min(swaps, len(inner) // 2)]
    changed = list(words)
    for one, other in zip(order[::2], order[1::2], strict=True):
        changed[one], changed[other] = changed[other], changed[one]
    return changed
