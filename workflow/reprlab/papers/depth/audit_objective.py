"""Checks 5.4 to 5.6 and 5.8: the masker's counts, the round trip, the worked example and the loss identity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reprlab.objectives import corruption
from reprlab.objectives.span_mask import noise_counts, random_span_mask
from reprlab.reporting.audit import AuditRow, check, judge
from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np

VOCABULARY = Vocabulary(32_000)
KNOWN = "known answer, not printed in the paper"
_ROWS, _SENTENCES, _WORDS = 64, 8, 12


def objective_checks() -> list[AuditRow]:
    """Checks 5.4, 5.5, 5.6 and 5.8."""
    return [*_masker(), *_round_trip(), *_worked_example(), *_loss_identity(), *_shuffling()]


def generator(seed: int) -> np.random.Generator:
    """The audit's random numbers: the same in every run."""
    import numpy as np

    return np.random.Generator(np.random.Philox(key=seed))


def _masker() -> Iterator[AuditRow]:
    import numpy as np

    noise, spans = noise_counts(np.array([8, 20, 100, 512]), 0.3, 3.0)
    lengths = "L = 8, 20, 100, 512"
    yield check("5.4a", f"masked tokens at {lengths}", "2, 6, 30, 154", ", ".join(map(str, noise)), KNOWN)
    yield check("5.4b", f"masked spans at {lengths}", "1, 2, 10, 51", ", ".join(map(str, spans)), KNOWN)
    ids = np.arange(1000, 1512, dtype=np.int32)[None]
    mask = random_span_mask(np.array([512]), 512, generator(0), density=0.3, mean_span=3.0, roll=False)
    encoder, labels = _t5_corruption(ids, mask)
    yield check("5.4c", "T5 encoder tokens, L = 512, no special token, no span cut", 409, encoder.shape[1], KNOWN)
    yield check("5.4d", "T5 label tokens, L = 512, no special token, no span cut", 205, labels.shape[1], KNOWN)


def _t5_corruption(ids: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    starts = corruption.span_starts(mask)
    sentinels = corruption.ordered_sentinels(starts, VOCABULARY)
    lengths = np.full(len(ids), ids.shape[1])
    encoder, _ = corruption.replace_spans(ids, lengths, mask, starts, sentinels)
    return encoder, corruption.span_labels(ids, mask, starts, sentinels)


def restore(encoder: list[int], labels: list[int]) -> list[int]:
    """The original tokens of one row from corrupted input and labels, by the spans of the labels.

    Only spans are looked up: sentence tokens in the labels end a span.
    """
    spans: dict[int, list[int]] = {}
    current: list[int] | None = None
    for token in labels:
        if VOCABULARY.pieces <= token < VOCABULARY.first_sentence:
            current = spans.setdefault(token, [])
        elif token >= VOCABULARY.first_sentence:
            current = None
        elif current is not None and token >= 0:
            current.append(token)
    return [piece for token in encoder for piece in spans.get(token, [token])]


def unshuffle(encoder: list[int], labels: list[int]) -> list[int]:
    """Sort the sentence blocks of one encoder row by the order of the SENT tokens in its labels."""
    order = [token for token in labels if VOCABULARY.is_sentence(token)]
    body, end = encoder[1:-1], encoder[-1:]
    starts = [place for place, token in enumerate(body) if VOCABULARY.is_sentence(token)]
    blocks = {body[a]: body[a:b] for a, b in zip(starts, [*starts[1:], len(body)], strict=True)}
    return [encoder[0], *(token for sentence in order for token in blocks[sentence]), *end]


def depth_batch(rows: int = _ROWS, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Invented DEPTH-format rows: ids and types [rows, L] and lengths, with distinct sentence tokens in each row."""
    import numpy as np

    rng = generator(seed)
    ids, types = [], []
    for _ in range(rows):
        tokens, numbers = [VOCABULARY.eosen_id], [1]
        for place, sentence in enumerate(rng.permutation(VOCABULARY.sentence_ids)[:_SENTENCES], start=1):
            words = rng.integers(3, VOCABULARY.pieces, size=_WORDS)
            tokens += [int(sentence), *map(int, words), VOCABULARY.eosen_id]
            numbers += [place] * (_WORDS + 2)
        ids.append([*tokens, VOCABULARY.eos_id])
        types.append([*numbers, _SENTENCES])
    lengths = np.full(rows, len(ids[0]))
    return np.array(ids, dtype=np.int32), np.array(types, dtype=np.int16), lengths


def _round_trip() -> Iterator[AuditRow]:
    import numpy as np

    from reprlab.objectives.depth import Objective, Settings

    rng = generator(2)
    ids = rng.integers(3, VOCABULARY.pieces, size=(_ROWS, 256)).astype(np.int32)
    mask = random_span_mask(np.full(_ROWS, 256), 256, rng, density=0.3, mean_span=3.0)
    encoder, labels = _t5_corruption(ids, mask)
    restored = [restore(_plain(e), _plain(t)) == row.tolist() for e, t, row in zip(encoder, labels, ids, strict=True)]
    yield _restored("5.5a", "T5", sum(restored))
    ids, types, lengths = depth_batch()
    objective = Objective(Settings(sentinel_replacement=False), VOCABULARY, 512, 512)
    for id, shuffled in (("5.5b", False), ("5.5c", True)):
        batch = objective.collate(ids, types, lengths, generator(3), shuffled=shuffled)
        count = 0
        for encoder_row, label_row, row in zip(batch["encoder_ids"], batch["labels"], ids, strict=True):
            tokens, targets = _plain(encoder_row), _plain(label_row)
            count += restore(unshuffle(tokens, targets), targets) == row.tolist()
        yield _restored(id, f"DEPTH with distinct sentinels, {'shuffled' if shuffled else 'in order'}", count)


def _restored(id: str, what: str, count: int) -> AuditRow:
    return check(
        id,
        f"round trip, {what}: rows restored from input and labels",
        f"{_ROWS} of {_ROWS}",
        f"{count} of {_ROWS}",
        KNOWN,
    )


def _plain(row: np.ndarray) -> list[int]:
    """A row without padding and ignored labels."""
    return [int(token) for token in row if token > 0]


def _worked_example() -> Iterator[AuditRow]:
    import numpy as np

    blocks = [(32103, range(1000, 1006)), (32107, range(1100, 1105)), (32111, range(1200, 1207))]
    tokens = [32120] + [token for sentence, words in blocks for token in (sentence, *words, 32120)] + [1]
    ids = np.array([tokens], dtype=np.int32)
    mask = np.isin(ids, [1101, 1102, 1200, 1201, 1202, 1203])
    starts = corruption.span_starts(mask)
    sentinels = np.array([32030, 32056], dtype=np.int32)
    encoder, _ = corruption.replace_spans(ids, np.array([len(tokens)]), mask, starts, sentinels)
    labels = corruption.span_labels(ids, mask | (ids >= VOCABULARY.first_sentence), starts, sentinels)
    expected = (
        "32120 32103 1000 1001 1002 1003 1004 1005 32120 32107 1100 32030 1103 1104 32120 32111 32056 1204 1205 1206 "
        "32120 1"
    )
    yield check("5.6a", "worked example: encoder input", expected, _joined(encoder), KNOWN)
    expected = "32120 32103 32120 32107 32030 1101 1102 32120 32111 32056 1200 1201 1202 1203 32120"
    yield check("5.6b", "worked example: labels", expected, _joined(labels), KNOWN)
    decoder = corruption.shift_right(labels, VOCABULARY.pad_id)
    yield check("5.6c", "worked example: decoder input", f"0 {expected[:-6]}", _joined(decoder), KNOWN)


def _joined(rows: np.ndarray) -> str:
    return " ".join(str(token) for token in rows[0])


def _loss_identity() -> Iterator[AuditRow]:
    import torch

    from reprlab.objectives.losses import decomposed_loss

    random = torch.Generator().manual_seed(0)
    logits = torch.randn(400, VOCABULARY.padded_size, generator=random)
    labels = torch.randint(3, VOCABULARY.size, (400,), generator=random)
    labels[:150] = torch.randint(VOCABULARY.first_sentence, VOCABULARY.size, (150,), generator=random)
    labels[-50:] = -100
    loss, parts = decomposed_loss(logits, labels, VOCABULARY)
    total = sum(
        parts[f"{name}_count"] * (parts[f"{name}_loss_sum"] / parts[f"{name}_count"])
        for name in ("sentence", "reconstruction")
    )
    difference = abs(float(loss) - float(total / parts["count"]))
    yield judge(
        "5.8a",
        "loss identity: L = (N_s mean_s + N_r mean_r) / N",
        "equal",
        f"{difference:.1e} apart",
        difference < 1e-5,
        f"{KNOWN}; on random logits, 1e-5 allowed for float32",
    )


def _shuffling() -> Iterator[AuditRow]:
    import numpy as np

    ids, types, _ = depth_batch()
    from reprlab.objectives.depth import Objective, Settings

    objective = Objective(Settings(shuffle_probability=0.0), VOCABULARY, 512, 512)
    lengths = np.full(len(ids), ids.shape[1])
    batch = objective.collate(ids, types, lengths, generator(4))
    kept = sum(
        restore_order(encoder) == restore_order(row) for encoder, row in zip(batch["encoder_ids"], ids, strict=True)
    )
    yield check(
        "5.8b", "shuffling with p = 0 leaves the order of tokens", f"{_ROWS} of {_ROWS}", f"{kept} of {_ROWS}", KNOWN
    )
    one = ids[:, : _WORDS + 3].copy()
    one = np.concatenate([one, np.full((len(ids), 1), VOCABULARY.eos_id, dtype=np.int32)], axis=1)
    numbers = np.ones_like(one, dtype=np.int16)
    shuffled, _ = corruption.shuffle_sentences(one, numbers, generator(5), VOCABULARY)
    same = int((shuffled == one).all(axis=1).sum())
    yield check(
        "5.8c",
        "shuffling with p = 1 and one sentence is the identity",
        f"{_ROWS} of {_ROWS}",
        f"{same} of {_ROWS}",
        KNOWN,
    )


def restore_order(row: np.ndarray) -> list[int]:
    """The sentence tokens of a row, in their order."""
    return [int(token) for token in row if VOCABULARY.is_sentence(token)]
