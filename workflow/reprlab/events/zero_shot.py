"""Relations of events named by a chat model without training: what it is asked, and what its answer means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reprlab.events.documents import EventDocument
from reprlab.events.encodings import mention_texts
from reprlab.events.pairs import LabelledPairs
from reprlab.events.settings import ZeroShotClassification
from reprlab.inference.chat import ask


def relation_prompt(head: str, tail: str, names: Sequence[str]) -> str:
    """The question about two marked sentences (our wording: the paper quotes the row and prints no prompt)."""
    return (
        "In each of two sentences of one document an event is marked with <m> and </m>.\n"
        f"Event 1: {head}\nEvent 2: {tail}\n"
        f"Which relation does event 1 have to event 2? Answer with one of these words alone: {', '.join(names)}."
    )


def answered_label(answer: str, names: Sequence[str]) -> int:
    """Number of the name that comes first in the answer as a word, in any case; 0 (no relation) where there is none."""
    places = {
        number: found.start()
        for number, name in enumerate(names)
        if (found := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", answer, re.IGNORECASE))
    }
    return min(places, key=lambda number: (places[number], -len(names[number])), default=0)


def ask_labels(
    documents: Sequence[EventDocument],
    pairs: Sequence[LabelledPairs],
    settings: ZeroShotClassification,
    cache: Path,
) -> list[np.ndarray]:
    """The label number of each pair of each document, as the model answers."""
    names = [settings.none, *settings.labels]
    texts = [mention_texts(document, settings.events.encoding, chains=settings.events.chains) for document in documents]
    prompts = [
        relation_prompt(mentions[head], mentions[tail], names)
        for mentions, found in zip(texts, pairs, strict=True)
        for head, tail in found.pairs.tolist()
    ]
    labels = np.array([answered_label(answer, names) for answer in ask(prompts, settings.chat, cache)], dtype=np.int64)
    return np.split(labels, np.cumsum([len(found.labels) for found in pairs])[:-1])
