"""Span corruption and sentence shuffling (spec 2.3, 5.4 to 5.6, 5.8)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.objectives import corruption, depth, t5
from reprlab.objectives.span_mask import t5_span_mask
from reprlab.runtime.errors import ReprlabError
from reprlab.text.vocabulary import Vocabulary

PAPER = Vocabulary(32_000)
SENT_A, SENT_B, SENT_C, EOSEN = 32_103, 32_107, 32_111, 32_120
# The worked example of spec 5.6.
ORIGINAL = [
    EOSEN,
    SENT_A,
    *range(1000, 1006),
    EOSEN,
    SENT_B,
    *range(1100, 1105),
    EOSEN,
    SENT_C,
    *range(1200, 1207),
    EOSEN,
    1,
]
ENCODER = [
    EOSEN, SENT_A, 1000, 1001, 1002, 1003, 1004, 1005, EOSEN, SENT_B, 1100, 32_030, 1103, 1104, EOSEN,
    SENT_C, 32_056, 1204, 1205, 1206, EOSEN, 1,
]  # fmt: skip
LABELS = [
    EOSEN, SENT_A, EOSEN, SENT_B, 32_030, 1101, 1102, EOSEN, SENT_C, 32_056, 1200, 1201, 1202, 1203, EOSEN,
]  # fmt: skip


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=seed))


def sentence_types(row: list[int], vocabulary: Vocabulary) -> list[int]:
    """Sentence numbers of a DEPTH row, by a walk over it."""
    types, number = [], 0
    for token in row:
        number += bool(vocabulary.is_sentence(np.int64(token)))
        types.append(max(number, 1))
    return types


def padded(rows: list[list[int]], fill: int = 0) -> np.ndarray:
    width = max(map(len, rows))
    return np.array([row + [fill] * (width - len(row)) for row in rows], dtype=np.int32)


def test_worked_example() -> None:
    # A second, shorter row without spans shows that rows do not mix.
    other = [EOSEN, SENT_B, 50, EOSEN, 1]
    ids, lengths = padded([ORIGINAL, other]), np.array([len(ORIGINAL), len(other)])
    mask = np.isin(ids, [1101, 1102, 1200, 1201, 1202, 1203])
    starts = corruption.span_starts(mask)
    sentinels = np.array([32_030, 32_056])
    encoder, kept = corruption.replace_spans(ids, lengths, mask, starts, sentinels)
    labels = corruption.span_labels(ids, mask | (ids >= PAPER.first_sentence), starts, sentinels)
    assert encoder.tolist() == [ENCODER, other + [0] * (len(ENCODER) - len(other))]
    assert labels.tolist() == [LABELS, [EOSEN, SENT_B, EOSEN] + [-100] * (len(LABELS) - 3)]
    assert corruption.shift_right(labels, 0).tolist() == [
        [0, *LABELS[:-1]],
        [0, EOSEN, SENT_B, EOSEN] + [0] * (len(LABELS) - 4),
    ]
    types = np.array([sentence_types(ORIGINAL, PAPER), [1] * 5 + [0] * (len(ORIGINAL) - 5)])
    assert corruption.compact(types, kept)[0].tolist() == sentence_types(ENCODER, PAPER)
    values, one = np.array([[5, 6], [7, 8]]), np.array([[False, True], [False, False]])
    assert corruption.compact(values, one).tolist() == [[6], [0]] and corruption.compact(values, one & ~one).shape == (
        2,
        1,
    )


def test_lengths_of_512_tokens() -> None:
    """Spec 5.4: encoder 409 and labels 205 tokens, one more each where the roll cuts a span in two."""
    ids = np.arange(1000, 1512, dtype=np.int32)[None].repeat(200, axis=0)
    objective = t5.Objective(t5.Settings(), PAPER, 512, 512)
    batch = objective.collate(ids, np.ones_like(ids), np.full(200, 512), generator())
    encoder, labels = (batch["encoder_ids"] != 0).sum(axis=1), (batch["labels"] != -100).sum(axis=1)
    assert set(zip(encoder.tolist(), labels.tolist(), strict=True)) == {(409, 205), (410, 206)}


def spans_of(labels: np.ndarray, vocabulary: Vocabulary) -> dict[int, list[int]]:
    """Sentinel to the tokens behind it."""
    spans: dict[int, list[int]] = {}
    current: list[int] = []
    for token in labels[labels != -100].tolist():
        if vocabulary.pieces <= token < vocabulary.first_sentence:
            assert token not in spans
            current = spans[token] = []
        elif token >= vocabulary.first_sentence:
            current = []
        else:
            current.append(token)
    return spans


def restored(encoder: np.ndarray, labels: np.ndarray, vocabulary: Vocabulary) -> list[int]:
    spans = spans_of(labels, vocabulary)
    row = [token for token in encoder.tolist() if token != vocabulary.pad_id]
    return [token for code in row for token in spans.get(code, [code])]


t5_rows = st.lists(st.lists(st.integers(3, 199), min_size=1, max_size=140), min_size=1, max_size=6)


@settings(max_examples=80, deadline=None)
@given(t5_rows, st.integers(0, 2**32), st.sampled_from([0.15, 0.3, 0.5]))
def test_t5_round_trip(rows, seed, probability) -> None:
    vocabulary = Vocabulary(200)
    rows = [[*row, 1] for row in rows]
    ids, lengths = padded(rows), np.array([len(row) for row in rows])
    wanted = t5.Settings(mask_probability=probability)
    batch = t5.Objective(wanted, vocabulary, 141, 300).collate(ids, np.ones_like(ids), lengths, generator(seed))
    for index, row in enumerate(rows):
        assert restored(batch["encoder_ids"][index], batch["labels"][index], vocabulary) == row
        order = list(spans_of(batch["labels"][index], vocabulary))
        assert order == vocabulary.sentinel_ids[: len(order)].tolist()
        assert 1 not in batch["labels"][index]
    assert (batch["decoder_ids"][:, 0] == 0).all()


@st.composite
def depth_rows(draw) -> list[list[int]]:
    rows = []
    for _ in range(draw(st.integers(1, 5))):
        sentences = draw(st.lists(st.lists(st.integers(2, 199), min_size=1, max_size=12), min_size=1, max_size=20))
        order = draw(st.permutations(range(20)))
        row = [320]
        for number, sentence in enumerate(sentences):
            row += [300 + order[number], *sentence, 320]
        rows.append([*row, 1])
    return rows


def blocks(row: list[int]) -> tuple[int, list[list[int]], int]:
    """Leading EOSEN, sentence blocks, EOS."""
    found: list[list[int]] = []
    for token in row[1:-1]:
        if 300 <= token < 320:
            found.append([])
        found[-1].append(token)
    return row[0], found, row[-1]


@settings(max_examples=80, deadline=None)
@given(depth_rows(), st.integers(0, 2**32), st.booleans())
def test_depth_round_trip(rows, seed, shuffled) -> None:
    vocabulary = Vocabulary(200)
    ids, lengths = padded(rows), np.array([len(row) for row in rows])
    types = padded([sentence_types(row, vocabulary) for row in rows])
    wanted = depth.Settings(sentinel_replacement=False)
    objective = depth.Objective(wanted, vocabulary, 600, 600)
    batch = objective.collate(ids, types, lengths, generator(seed), shuffled=shuffled)
    for index, row in enumerate(rows):
        encoder, labels = batch["encoder_ids"][index], batch["labels"][index]
        found = restored(encoder, labels, vocabulary)
        first, parts, last = blocks(found)
        order = [token for token in labels.tolist() if 300 <= token < 320]
        # Sorted by the order of SENT in the labels, the blocks are the original.
        parts.sort(key=lambda block: order.index(block[0]))
        assert [first, *(token for part in parts for token in part), last] == row
        inside = [token for token in encoder.tolist() if token != 0]
        assert batch["encoder_types"][index, : len(inside)].tolist() == sentence_types(inside, vocabulary)
        assert not batch["encoder_types"][index, len(inside) :].any()
        assert [token for token in labels.tolist() if token >= 300] == [token for token in row if token >= 300]
        assert 1 not in labels
        if not shuffled:
            assert found == row
    assert (batch["decoder_ids"][:, 0] == 0).all()
    assert (batch["decoder_ids"][:, 1:] == np.where(batch["labels"] == -100, 0, batch["labels"])[:, :-1]).all()


def one_row(sentences: int, words: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    row = [320]
    for number in range(sentences):
        row += [300 + number, *range(10 * number + 3, 10 * number + 3 + words), 320]
    ids = np.array([[*row, 1]], dtype=np.int32)
    return ids, np.array([sentence_types(ids[0].tolist(), Vocabulary(200))]), np.array([ids.shape[1]])


def test_coin_and_forcing() -> None:
    vocabulary = Vocabulary(200)
    ids, types, lengths = one_row(8)
    for probability, moved in ((0.0, False), (1.0, True)):
        objective = depth.Objective(depth.Settings(shuffle_probability=probability), vocabulary, 128, 128)
        batch = objective.collate(ids, types, lengths, generator(1))
        ordered = [t for t in batch["encoder_ids"][0].tolist() if 300 <= t < 320] == list(range(300, 308))
        assert ordered != moved
        # Forcing the coin changes the order of sentences and nothing else.
        plain = objective.collate(ids, types, lengths, generator(1), shuffled=False)
        mixed = objective.collate(ids, types, lengths, generator(1), shuffled=True)
        assert (plain["labels"] == mixed["labels"]).all()
        assert sorted(plain["encoder_ids"][0]) == sorted(mixed["encoder_ids"][0])
        assert (batch["encoder_ids"] == (mixed if moved else plain)["encoder_ids"]).all()
    shuffled = 0
    objective = depth.Objective(depth.Settings(shuffle_probability=0.5), vocabulary, 128, 128)
    for seed in range(200):
        batch = objective.collate(ids, types, lengths, generator(seed))
        shuffled += [t for t in batch["encoder_ids"][0].tolist() if 300 <= t < 320] != list(range(300, 308))
    assert abs(shuffled - 100) < 5 * np.sqrt(50)


def test_one_sentence_cannot_be_shuffled() -> None:
    ids, types, lengths = one_row(1, words=9)
    objective = depth.Objective(depth.Settings(shuffle_probability=1.0), Vocabulary(200), 128, 128)
    shuffled = objective.collate(ids, types, lengths, generator(2))
    plain = objective.collate(ids, types, lengths, generator(2), shuffled=False)
    assert all((shuffled[name] == plain[name]).all() for name in plain)


def test_shuffling_is_uniform() -> None:
    ids, types, _ = one_row(3, words=2)
    rows = 6_000
    found, _ = corruption.shuffle_sentences(
        ids.repeat(rows, axis=0), types.repeat(rows, axis=0), generator(3), Vocabulary(200)
    )
    sent = found[(found >= 300) & (found < 320)].reshape(rows, 3)
    kinds, counts = np.unique(sent, axis=0, return_counts=True)
    assert len(kinds) == 6
    assert np.abs(counts - 1_000).max() < 5 * np.sqrt(1_000 * 5 / 6)


def test_truncated_rows_get_an_end() -> None:
    vocabulary = Vocabulary(200)
    cut = [320, 300, 5, 6, 320, 301, 7, 8, 9, 10]
    whole = [320, 302, 5, 320, 1]
    at_sentence = [320, 300, 5, 6, 7, 8, 9, 320, 301]
    rows = [cut, whole, at_sentence]
    ids, lengths = padded(rows), np.array([len(row) for row in rows])
    types = padded([sentence_types(row, vocabulary) for row in rows])
    closed, numbers = corruption.close_truncated(ids, types, lengths, vocabulary)
    assert closed[0].tolist() == [320, 300, 5, 6, 320, 301, 7, 8, 320, 1]
    assert closed[1, :5].tolist() == whole
    assert closed[2, :9].tolist() == [320, 300, 5, 6, 7, 8, 9, 320, 1]
    assert numbers[2, :9].tolist() == [1] * 9
    assert ids[0, -1] == 10
    batch = depth.Objective(depth.Settings(), vocabulary, 64, 64).collate(
        ids, types, lengths, generator(), shuffled=True
    )
    assert ((batch["encoder_ids"] == 1).sum(axis=1) == 1).all()


def test_sentinels_of_depth() -> None:
    vocabulary = Vocabulary(200)
    ids = np.full((300, 400), 7, dtype=np.int32)
    mask = np.arange(400) % 8 == 3
    starts = corruption.span_starts(np.broadcast_to(mask, ids.shape))
    shared = corruption.random_sentinels(starts, vocabulary, generator(1), replacement=True).reshape(300, 50)
    distinct = corruption.random_sentinels(starts, vocabulary, generator(1), replacement=False).reshape(300, 50)
    assert max(len(set(row)) for row in shared.tolist()) < 50
    assert {len(set(row)) for row in distinct.tolist()} == {50}
    for drawn in (shared, distinct):
        assert (drawn.min(), drawn.max()) == (200, 299)
        counts = np.bincount(drawn.ravel() - 200, minlength=100)
        assert np.abs(counts - 150).max() < 5 * np.sqrt(150)
        # No position prefers a sentinel: the first spans of rows are as mixed as all.
        assert len(np.unique(drawn[:, 0])) > 80


def test_too_many_spans_are_refused() -> None:
    ids = np.full((1, 1_400), 7, dtype=np.int32)
    objective = t5.Objective(t5.Settings(), PAPER, 1_400, 1_400)
    with pytest.raises(ReprlabError, match="only 100 sentinels"):
        objective.collate(ids, np.ones_like(ids), np.array([1_400]), generator())


def test_padding_of_batches() -> None:
    ids, types, lengths = one_row(4)
    objective = depth.Objective(depth.Settings(), Vocabulary(200), 128, 96)
    trimmed = objective.collate(ids, types, lengths, generator(1))
    fixed = objective.collate(ids, types, lengths, generator(1), fixed_length=True)
    assert fixed["encoder_ids"].shape == fixed["encoder_types"].shape == (1, 128)
    assert fixed["labels"].shape == fixed["decoder_ids"].shape == (1, 96)
    for name, array in trimmed.items():
        width = array.shape[1]
        assert (fixed[name][:, :width] == array).all()
        # The last label is the input of a step that the trimmed batch does not have.
        behind = width + (name == "decoder_ids")
        assert (fixed[name][:, behind:] == (-100 if name == "labels" else 0)).all()
    # The longest row decides, and it has no padding.
    assert trimmed["encoder_ids"][0, -1] == 1
    assert trimmed["labels"][0, -1] != -100


def test_long_targets_are_cut() -> None:
    ids, types, lengths = one_row(10)
    whole, cut = (
        depth.Objective(depth.Settings(), Vocabulary(200), 128, target).collate(ids, types, lengths, generator(1))
        for target in (128, 12)
    )
    assert cut["labels"].tolist() == whole["labels"][:, :12].tolist()
    assert cut["decoder_ids"].tolist() == whole["decoder_ids"][:, :12].tolist()
    assert (cut["encoder_ids"] == whole["encoder_ids"]).all()


def test_inputs_are_left_alone() -> None:
    ids, types, lengths = one_row(4)
    ids[0, -1] = 9
    copies = ids.copy(), types.copy()
    depth.Objective(depth.Settings(), Vocabulary(200), 128, 96).collate(ids, types, lengths, generator(), shuffled=True)
    t5.Objective(t5.Settings(), Vocabulary(200), 128, 96).collate(ids, types, lengths, generator())
    assert (ids == copies[0]).all()
    assert (types == copies[1]).all()


def scrambled_row(ids: list[int], mask: list[bool], vocabulary: Vocabulary) -> tuple[list[int], list[int]]:
    """The released collator on one row, in plain Python: keep positions, wrap them to int8, read from the row's end."""
    length = len(ids)
    encoder, target, sentinel = [], [0] * (length + 1), vocabulary.first_sentinel
    for position, (token, masked) in enumerate(zip(ids, mask, strict=True)):
        if masked and (position == 0 or not mask[position - 1]):
            encoder.append(sentinel)
            target[position] = sentinel
            sentinel -= 1
        else:
            encoder.append(-1 if masked else token)
        if masked:
            target[position + 1] = token
    target[length] = 0

    def gathered(values: list[int], kept: list[int]) -> list[int]:
        indices = kept + [length] * (length - len(kept))
        return [values[(index + 128) % 256 - 128] for index in indices]

    source = gathered([*encoder, -1], [i for i in range(length) if encoder[i] != -1])
    labels = gathered(target, [i for i in range(length) if target[i] != 0])
    return [max(token, 0) for token in source], [token if token else -100 for token in labels]


@pytest.mark.parametrize("length", [20, 127, 128, 200, 512])
def test_int8_bug_equals_a_loop(length: int) -> None:
    ids = np.arange(1000, 1000 + length, dtype=np.int32)[None].repeat(8, axis=0)
    ids[:4, -1] = 1
    arguments = (ids, np.ones_like(ids), np.full(8, length))
    broken = t5.Objective(t5.Settings(t5_int8_bug=True), PAPER, length, length).collate(*arguments, generator(4))
    correct = t5.Objective(t5.Settings(), PAPER, length, length).collate(*arguments, generator(4), fixed_length=True)
    mask = t5_span_mask(ids, length, generator(4), density=0.3, mean_span=3.0, pad_id=0, eos_id=1)
    for row in range(8):
        encoder, labels = scrambled_row(ids[row].tolist(), mask[row].tolist(), PAPER)
        assert broken["encoder_ids"][row].tolist() == encoder
        assert broken["labels"][row].tolist() == labels
    if length <= 127:
        assert (broken["encoder_ids"] == correct["encoder_ids"]).all()
        assert (broken["labels"][:4] == correct["labels"][:4]).all()


def test_int8_bug_loses_half_of_512_tokens() -> None:
    """Spec 8: 259 of 512 distinct tokens are in neither input nor labels; the exact number depends on the mask."""
    ids = np.arange(1000, 1512, dtype=np.int32)[None].repeat(100, axis=0)
    arguments = (ids, np.ones_like(ids), np.full(100, 512))
    broken = t5.Objective(t5.Settings(t5_int8_bug=True), PAPER, 512, 512).collate(*arguments, generator(5))
    correct = t5.Objective(t5.Settings(), PAPER, 512, 512).collate(*arguments, generator(5))
    original = set(range(1000, 1512))
    lost = [len(original - set(e) - set(d)) for e, d in zip(broken["encoder_ids"], broken["labels"], strict=True)]
    assert 256 <= min(lost) <= max(lost) <= 263
    assert abs(np.mean(lost) - 259) < 1
    repeated = []
    for row in broken["encoder_ids"]:
        _, counts = np.unique(row[(row >= 1000) & (row < 1512)], return_counts=True)
        repeated.append((counts > 1).sum())
    assert min(repeated) > 50
    for encoder, labels in zip(correct["encoder_ids"], correct["labels"], strict=True):
        assert original <= set(encoder) | set(labels)
