"""Known answers of DEPTH's definitions: parameters, masker, round trip, worked example, loss, chance, schedules.

They show that this workflow computes what the paper describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from reprlab.objectives import corruption
from reprlab.objectives.depth import Objective, Settings
from reprlab.objectives.losses import chance_sentence_loss, decomposed_loss, unshuffling_chance
from reprlab.objectives.span_mask import noise_counts, random_span_mask
from reprlab.reporting.audit import Found, found
from reprlab.reporting.audit_checks import parameters
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import counted, generator, held_at, number
from reprlab.text.vocabulary import Vocabulary
from reprlab.training.schedules import learning_rate_factor
from reprlab.training.settings import ScheduleSettings

VOCABULARY = Vocabulary(32_000)
_ROWS, _SENTENCES, _WORDS = 64, 8, 12


def sizes(given: Given) -> Iterator[float]:
    """5.3: rows of the embedding, and millions of parameters of the model that the released code trains."""
    yield VOCABULARY.padded_size
    yield parameters(given, model="t5_v1_1_base", tied="no") / 1e6


def masker(given: Given) -> Iterator[Any]:
    """5.4: counts of the span masker."""
    for counts in noise_counts(np.array([8, 20, 100, 512]), 0.3, 3.0):
        yield ", ".join(map(str, counts))
    ids = np.arange(1000, 1512, dtype=np.int32)[None]
    mask = random_span_mask(np.array([512]), 512, generator(0), density=0.3, mean_span=3.0, roll=False)
    for side in _t5_corruption(ids, mask):
        yield side.shape[1]


def _t5_corruption(ids: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    starts = corruption.span_starts(mask)
    sentinels = corruption.ordered_sentinels(starts, VOCABULARY)
    lengths = np.full(len(ids), ids.shape[1])
    encoder, _ = corruption.replace_spans(ids, lengths, mask, starts, sentinels)
    return encoder, corruption.span_labels(ids, mask, starts, sentinels)


def _restore(encoder: list[int], labels: list[int]) -> list[int]:
    """The original tokens of one row from corrupted input and labels, by the spans of the labels.

    Only spans are looked up: sentence tokens in the labels end a span.
    """
    spans: dict[int, list[int]] = {}
    current: list[int] = []
    for token in labels:
        if token < VOCABULARY.pieces:
            current.append(token)
        else:
            current = spans.setdefault(token, []) if token < VOCABULARY.first_sentence else []
    return [piece for token in encoder for piece in spans.get(token, [token])]


def _unshuffle(encoder: list[int], labels: list[int]) -> list[int]:
    """Sort the sentence blocks of one encoder row by the order of the SENT tokens in its labels."""
    body, end = encoder[1:-1], encoder[-1:]
    starts = [place for place, token in enumerate(body) if VOCABULARY.is_sentence(token)]
    blocks = {body[a]: body[a:b] for a, b in zip(starts, [*starts[1:], len(body)], strict=True)}
    return [encoder[0], *(token for sentence in _order(labels) for token in blocks[sentence]), *end]


def _order(row: Any) -> list[int]:
    """The sentence tokens of a row, in their order."""
    return [int(token) for token in row if VOCABULARY.is_sentence(token)]


def depth_batch(
    rows: int = _ROWS, *, seed: int, shuffled: bool | None = None, **settings: Any
) -> tuple[np.ndarray, dict[str, Any]]:
    """Invented DEPTH-format rows [rows, L] with distinct sentence tokens in each, and their batch by the objective."""
    rng, types = generator(1), np.repeat(np.arange(1, _SENTENCES + 1, dtype=np.int16), _WORDS + 2)
    ids = []
    for _ in range(rows):
        sentences = (
            [sentence, *rng.integers(3, VOCABULARY.pieces, size=_WORDS), VOCABULARY.eosen_id]
            for sentence in rng.permutation(VOCABULARY.sentence_ids)[:_SENTENCES]
        )
        ids.append([VOCABULARY.eosen_id, *(token for one in sentences for token in one), VOCABULARY.eos_id])
    stored = np.array(ids, dtype=np.int32)
    numbers = np.tile(np.array([1, *types, _SENTENCES], dtype=np.int16), (rows, 1))
    objective = Objective(Settings(**settings), VOCABULARY, 512, 512)
    lengths = np.full(rows, stored.shape[1])
    return stored, objective.collate(stored, numbers, lengths, generator(seed), shuffled=shuffled)


def round_trip(given: Given) -> Iterator[Found]:
    """5.5: rows restored from input and labels."""
    rng = generator(2)
    ids = rng.integers(3, VOCABULARY.pieces, size=(_ROWS, 256)).astype(np.int32)
    mask = random_span_mask(np.full(_ROWS, 256), 256, rng, density=0.3, mean_span=3.0)
    rows = zip(*(map(_plain, side) for side in _t5_corruption(ids, mask)), ids.tolist(), strict=True)
    yield counted(_restore(tokens, targets) == row for tokens, targets, row in rows)
    for shuffled in (False, True):
        ids, batch = depth_batch(seed=3, shuffled=shuffled, sentinel_replacement=False)
        sides = (map(_plain, batch[name]) for name in ("encoder_ids", "labels"))
        rows = zip(*sides, ids.tolist(), strict=True)
        yield counted(_restore(_unshuffle(tokens, targets), targets) == row for tokens, targets, row in rows)


def _plain(row: np.ndarray) -> list[int]:
    """A row without padding and ignored labels."""
    return [int(token) for token in row if token > 0]


def worked_example(given: Given) -> Iterator[str]:
    """5.6: encoder input, labels and decoder input of three sentences with two spans."""
    blocks = [(32103, range(1000, 1006)), (32107, range(1100, 1105)), (32111, range(1200, 1207))]
    tokens = [32120] + [token for sentence, words in blocks for token in (sentence, *words, 32120)] + [1]
    ids = np.array([tokens], dtype=np.int32)
    mask = np.isin(ids, [1101, 1102, 1200, 1201, 1202, 1203])
    starts = corruption.span_starts(mask)
    sentinels = np.array([32030, 32056], dtype=np.int32)
    encoder, _ = corruption.replace_spans(ids, np.array([len(tokens)]), mask, starts, sentinels)
    labels = corruption.span_labels(ids, mask | (ids >= VOCABULARY.first_sentence), starts, sentinels)
    for rows in (encoder, labels, corruption.shift_right(labels, VOCABULARY.pad_id)):
        yield " ".join(map(str, rows[0]))


def loss_identity(given: Given) -> Found:
    """5.8: the loss is the mean of its parts, weighted by their counts."""
    random = torch.Generator().manual_seed(0)
    logits = torch.randn(400, VOCABULARY.padded_size, generator=random)
    labels = torch.randint(3, VOCABULARY.size, (400,), generator=random)
    labels[:150] = torch.randint(VOCABULARY.first_sentence, VOCABULARY.size, (150,), generator=random)
    labels[-50:] = -100
    loss, parts = decomposed_loss(logits, labels, VOCABULARY)
    means = {name: parts[f"{name}_loss_sum"] / parts[f"{name}_count"] for name in ("sentence", "reconstruction")}
    total = sum(parts[f"{name}_count"] * mean for name, mean in means.items())
    difference = abs(float(loss) - float(total / parts["count"]))
    return found(difference, difference < 1e-5)


def shuffling(given: Given) -> Iterator[Found]:
    """5.8: no shuffling where its probability is 0, and none of one sentence."""
    ids, batch = depth_batch(seed=4, shuffle_probability=0.0)
    yield counted(_order(encoder) == _order(row) for encoder, row in zip(batch["encoder_ids"], ids, strict=True))
    one = np.concatenate([ids[:, : _WORDS + 3], np.full((len(ids), 1), VOCABULARY.eos_id, dtype=np.int32)], axis=1)
    shuffled, _ = corruption.shuffle_sentences(one, np.ones_like(one, dtype=np.int16), generator(5), VOCABULARY)
    yield held_at((shuffled == one).all(axis=1))


def chance(given: Given) -> Iterator[Any]:
    """5.9: loss and accuracy of un-shuffling by chance, and the mean sentence loss with half the batches shuffled."""
    for sentences in (5, 10, 20):
        yield found(unshuffling_chance(sentences)[0], sentences=sentences)
    yield unshuffling_chance(10)[1]
    low, high = (float(given.said[f"fs depth sentence_loss_{end}"]) for end in ("min", "max"))
    yield found(value := chance_sentence_loss(10), low <= value <= high)


def learning_rate(given: Given, *, schedule: str, step: str) -> float:
    horizon, peak = 1_000_000, 1e-4
    settings = ScheduleSettings.model_validate({"name": schedule, "warmup_steps": 10_000, "horizon_steps": horizon})
    return peak * learning_rate_factor(int(number(step)), horizon, settings)
