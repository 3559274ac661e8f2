"""Seconds of classification over documents of growing size: with k partners for each event, and of all pairs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from reprlab.events.classification import predict_labels
from reprlab.events.documents import EventDocument
from reprlab.events.pairs import inference_pairs
from reprlab.events.rankings import rank_at_random
from reprlab.events.settings import ALL_PAIRS, PairTiming
from reprlab.runtime.errors import ReprlabError


def joined_document(documents: Sequence[EventDocument], events: int) -> EventDocument:
    """The first documents, one behind the other, up to the sentence with the last of so many events.

    Raises:
        ReprlabError: together they have fewer events.
    """
    tokens: list[str] = []
    starts: list[int] = []
    triggers: list[tuple[int, ...]] = []
    relations: dict[tuple[int, int], str] = {}
    for document in documents:
        first, shift = len(triggers), len(tokens)
        relations |= {(head + first, tail + first): label for (head, tail), label in document.relations.items()}
        triggers += [tuple(token + shift for token in trigger) for trigger in document.triggers]
        starts += [start + shift for start in document.sentence_starts]
        tokens += document.tokens
        if len(triggers) >= events:
            break
    if len(triggers) < events:
        raise ReprlabError(f"timing: the test documents have {len(triggers)} events, too few for {events}")
    last = max(token for trigger in triggers[:events] for token in trigger)
    end = next((start for start in starts if start > last), len(tokens))
    return EventDocument(
        f"joined-{events}",
        "",
        "test",
        tuple(tokens[:end]),
        tuple(start for start in starts if start < end),
        tuple(triggers[:events]),
        (-1,) * events,
        {pair: label for pair, label in relations.items() if max(pair) < events},
    )


def timing_rows(
    classifier: Any, documents: Sequence[EventDocument], settings: PairTiming, *, device: str, batch_size: int
) -> list[dict[str, Any]]:
    """Fewest seconds of several runs, and the pairs classified, for each number of events and each condition.

    The seconds are those of the classifier: encoding and pairs, not the retriever's. Which partners an event has does
    not change their number, so that they are drawn at random.
    """
    found = []
    for events in settings.sizes:
        document = joined_document(documents, events)
        ranking = rank_at_random([document], 0)[document.name]
        conditions = {ALL_PAIRS: {"inference": "all"}} | {
            str(k): {"inference": "retrieved", "k": k} for k in settings.ks
        }
        for name, how in conditions.items():
            pairs = inference_pairs(document, ranking, settings.classification.model_copy(update=how))
            seconds = []
            for _ in range(settings.repeats + 1):  # the first one warms up
                started = time.perf_counter()
                predict_labels(classifier, [document], [pairs], device=device, batch_size=batch_size)
                seconds.append(time.perf_counter() - started)
            about = {"events": events, "condition": name, "n": settings.repeats}
            found.append({**about, "metric": "seconds", "value": float(np.min(seconds[1:]))})
            found.append({**about, "metric": "classified_pairs", "value": float(len(pairs.labels))})
    return found
