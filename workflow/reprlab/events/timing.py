"""Seconds of classification over documents of growing size: with k partners for each event, and of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.events.classification import predict_labels
from reprlab.events.documents import EventDocument
from reprlab.events.pairs import LabelledPairs, inference_pairs
from reprlab.events.rankings import rank_at_random
from reprlab.events.settings import ALL_PAIRS, PairTiming
from reprlab.inference.call_seconds import call_seconds
from reprlab.runtime.errors import ReprlabError
from reprlab.training.processes import choose_device

if TYPE_CHECKING:
    from reprlab.training.finetuning_encoding import Ragged


def joined_document(documents: Sequence[EventDocument], events: int) -> EventDocument:
    """The first documents, one behind the other, up to the sentence with the last of this many events.

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

    `seconds` are those of the classifier, whichever kind it is. One that encodes the document once has two parts,
    `encode_seconds` for the document and `pair_seconds` for its pairs, and beside them what the same encoder takes when
    it reads each pair by itself, as two marked sentences (`apart_seconds`), and each mention by itself, as a retriever
    does (`mention_seconds`). Which partners an event has does not change their number: they are drawn at random.
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
            whole = partial(predict_labels, classifier, [document], [pairs], device=device, batch_size=batch_size)
            seconds = call_seconds(whole, choose_device(device), repeats=settings.repeats, warmups=1)
            measured = {"classified_pairs": float(len(pairs.labels)), "seconds": min(seconds)}
            if settings.classification.kind == "discriminative":
                measured |= _parts(classifier, document, pairs, settings, batch_size)
            about = {"events": events, "condition": name, "n": settings.repeats}
            found += [{**about, "metric": metric, "value": value} for metric, value in measured.items()]
    return found


def _parts(
    classifier: Any, document: EventDocument, pairs: LabelledPairs, settings: PairTiming, batch_size: int
) -> dict[str, float]:
    import torch

    from reprlab.events.generative import pair_inputs
    from reprlab.events.mention_inputs import closed_mentions
    from reprlab.retrieval.bi_encoder import embed
    from reprlab.text.encoding import padding_id

    given, reader, encoder = settings.classification, classifier.tokenizer, classifier.model.encoder
    device = next(encoder.parameters()).device
    batch = {
        name: value.to(device) for name, value in classifier.prepare([document], [pairs]).batch(np.arange(1)).items()
    }

    def passes(texts: Ragged) -> None:
        embed(encoder, texts, padding_id(reader), "mean", batch_size=batch_size, dtype=given.engine.dtype)

    def seconds(work: Callable[[], object], repeats: int = settings.repeats, warmups: int = 1) -> float:
        return min(call_seconds(work, device, repeats=repeats, warmups=warmups))

    bfloat16 = given.engine.dtype == "bfloat16"
    with torch.inference_mode(), torch.autocast(device.type, dtype=torch.bfloat16, enabled=bfloat16):
        vectors = classifier.model.vectors(batch)
        return {
            "encode_seconds": seconds(lambda: classifier.model.vectors(batch)),
            "pair_seconds": seconds(lambda: classifier.model.scores(vectors, batch["pairs"])),
            # By far the longest: measured once.
            "apart_seconds": seconds(
                lambda: passes(pair_inputs(reader, [document], [pairs], given.events, given.max_length)), 1, 0
            ),
            "mention_seconds": seconds(
                lambda: passes(closed_mentions(reader, [document], given.events, given.max_length))
            ),
        }
