"""Whole-concept masking: the invariants of the specification (5.5), and a plain loop as the oracle of the budget."""

import numpy as np
import pyarrow
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.artifacts.tables import write_parquet
from reprlab.concepts.files import BLOCK_COLUMNS
from reprlab.concepts.marks import CONCEPT, FIRST, FURTHER, OPENS
from reprlab.objectives.masked_concepts import Objective, Settings, take, tiles
from reprlab.text.mask_vocabulary import MaskVocabulary
from reprlab.text.token_store import TokenStore
from reprlab.text.vocabulary import Vocabulary
from reprlab.training.batches import PretrainingBatches
from reprlab.training.objective import load_objective
from reprlab.training.settings import EngineSettings, PretrainSettings

VOCABULARY = Vocabulary(60, 1, 1)
MASK = VOCABULARY.first_sentinel


@st.composite
def rows(draw):
    """Blocks of words of one to three pieces, some of them concepts of one to three words and some unknown, with EOS
    and padding."""
    blocks, unknown = [], []
    for row in range(draw(st.integers(1, 4))):
        types = []
        for _ in range(draw(st.integers(0, 8))):
            concept = draw(st.booleans()) * CONCEPT
            unknown += [(row, len(types))] * (not concept and draw(st.booleans()))
            for word in range(draw(st.integers(1, 3)) if concept else 1):
                opens = OPENS if concept and not word else 0
                types += [FIRST | concept | opens] + [FURTHER | concept] * draw(st.integers(0, 2))
        blocks.append(types)
    width = max(map(len, blocks)) + 1
    ids, types = np.zeros((len(blocks), width), np.int32), np.zeros((len(blocks), width), np.int16)
    for row, block in enumerate(blocks):
        types[row, : len(block)] = block
        ids[row, : len(block)] = draw(st.lists(st.integers(3, 59), min_size=len(block), max_size=len(block)))
        ids[row, len(block)] = VOCABULARY.eos_id
    for place in unknown:
        ids[place] = VOCABULARY.unk_id
    return ids, types, np.array([len(block) + 1 for block in blocks])


def occurrences(types):
    """Places of each occurrence, flat."""
    owner = np.cumsum((types.ravel() & OPENS) > 0)
    inside = (types.ravel() & CONCEPT) > 0
    return [np.flatnonzero(inside & (owner == number)) for number in range(1, owner[-1] + 1 if len(owner) else 1)]


def batch_of(given, **own):
    ids, types, lengths = given
    return Objective(Settings(**own), VOCABULARY, 64, 64).collate(ids, types, lengths, np.random.default_rng(0))


@settings(max_examples=150, deadline=None)
@given(rows(), st.sampled_from([0.1, 0.2, 0.5, 1.0]))
def test_invariants(given, budget):
    ids, types, _ = given
    batch = batch_of(given, budget=budget)
    chosen = batch["labels"] != -100
    special = (ids <= 2) | (ids >= 60)
    assert chosen.sum() <= int(budget * (~special).sum() + 1e-9)
    assert not chosen[special].any() and not chosen[(types & CONCEPT) == 0].any()
    assert (batch["input_ids"][~chosen] == ids[~chosen]).all() and (batch["labels"][chosen] == ids[chosen]).all()
    flat, found = chosen.ravel(), batch["input_ids"].ravel()
    for places in occurrences(types):
        assert flat[places].all() or not flat[places].any()
        masked = found[places] == MASK
        assert masked.all() or not masked.any()
        assert masked.all() or (not (found[places] >= 60).any() and (found[places] > 2).all())
    if budget == 1.0:
        assert (chosen == ((types & CONCEPT) > 0)).all()


@settings(max_examples=80, deadline=None)
@given(rows())
def test_spans_mask_no_more_than_concepts_and_whole_words(given):
    ids, types, _ = given
    spans = batch_of(given, selection="spans")["labels"] != -100
    concepts = batch_of(given)["labels"] != -100
    assert spans.sum() <= concepts.sum()
    # A word is chosen with all of its pieces.
    further = ((types & FURTHER) > 0).ravel()
    follows = np.flatnonzero(further)
    assert (spans.ravel()[follows] == spans.ravel()[follows - 1]).all()
    assert not spans[(ids <= 2) | (ids >= 60)].any()


@pytest.mark.parametrize("width", [6, 12, 60])
def test_spans_have_the_lengths_of_concepts(width):
    """In words, within five standard deviations for each length, in short rows too."""
    rng, shares = np.random.default_rng(2), {1: 0.6, 2: 0.25, 3: 0.1, 4: 0.05}
    words = rng.choice(list(shares), p=list(shares.values()), size=20_000)
    types = np.full((60_000 // width, width + 1), FIRST, np.int16)
    types[:, -1] = 0
    found = tiles(types.ravel(), types > 0, words, rng)
    n = len(found.length)
    assert found.length.sum() > 0.9 * 60_000 and (np.diff(found.start) >= found.length[:-1]).all()
    for size, share in shares.items():
        sigma = (share * (1 - share) * (1 / n + 1 / len(words))) ** 0.5
        assert (found.length == size).mean() == pytest.approx((words == size).mean(), abs=5 * sigma)
    covered = np.zeros(types.size, dtype=bool)
    for start, length in zip(found.start, found.length, strict=True):
        covered[start : start + length] = True
    covered = covered.reshape(types.shape).mean(axis=0)
    # A row's ends, where a span must begin or stop, alike; every word is in one most of the time.
    assert covered[-1] == 0 and covered[:-1].min() > 0.7 and covered[0] == pytest.approx(covered[-2], abs=0.05)


def test_arms_see_the_same_blocks_in_the_same_order(tmp_path):
    """What each masking covers is restored by its labels: the batches of a seed are equal, those of another are not."""
    token_file(tmp_path / "tokens.parquet")
    arms = {"concept": concept_settings("concepts"), "random_span": concept_settings("spans"), "random": RANDOM}
    seen = {name: originals(tmp_path / "tokens.parquet", one, 3) for name, one in arms.items()}
    assert (seen["concept"] == seen["random"]).all() and (seen["concept"] == seen["random_span"]).all()
    assert not (originals(tmp_path / "tokens.parquet", RANDOM, 4) == seen["random"]).all()


RANDOM = ("masked_lm", {"mask_probability": 0.5})


def concept_settings(selection):
    return "masked_concepts", {"selection": selection, "budget": 0.5}


def token_file(path):
    """Sixteen blocks of eight words, each with one concept; sixteen blocks, alike in length."""
    ids = np.random.default_rng(5).integers(3, 60, (16, 9)).astype(np.int32)
    ids[:, -1] = VOCABULARY.eos_id
    types = np.full(ids.shape, FIRST, dtype=np.int16)
    types[:, 2] |= CONCEPT | OPENS
    types[:, -1] = 0
    VOCABULARY.save(path.parent)
    columns = {"split": ["train"] * 16, "input_ids": ids.tolist(), "token_types": types.tolist()}
    write_parquet(path, pyarrow.table(columns, schema=pyarrow.schema(BLOCK_COLUMNS[:3])))


def originals(path, objective, seed):
    """[steps, rows, tokens]: what the batches of six updates had before they were masked."""
    name, own = objective
    engine = EngineSettings(steps=6, batch_size=4, optimizer={"learning_rate": 1e-3}, seed=seed)
    chosen = PretrainSettings(
        objective=name, objective_settings=own, engine=engine, init_step=None, input_length=9, target_length=9
    )
    batches = PretrainingBatches(TokenStore.open(path, "train"), load_objective(chosen, path.parent), chosen)
    made = [batches(step, 0, 0, 1) for step in range(6)]
    assert all((one["labels"] != -100).any() for one in made)
    return np.stack([torch.where(one["labels"] != -100, one["labels"], one["input_ids"]).numpy() for one in made])


def test_spans_mask_as_much_as_concepts_at_other_places():
    rng = np.random.default_rng(1)
    ids = rng.integers(3, 60, (64, 65)).astype(np.int32)
    ids[:, -1] = VOCABULARY.eos_id
    types = np.full(ids.shape, FIRST, dtype=np.int16)
    types[:, -1] = 0
    types[:, 4:20:8] |= CONCEPT | OPENS
    types[:, 5:21:8] |= CONCEPT
    given = ids, types, np.full(64, 65)
    concepts, spans = (batch_of(given, selection=one, budget=0.05)["labels"] != -100 for one in ("concepts", "spans"))
    assert concepts.sum() == int(0.05 * 64 * 64) and abs(int(spans.sum()) - int(concepts.sum())) <= 1
    assert (spans & ((types & CONCEPT) > 0)).sum() < 0.2 * spans.sum()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 9), max_size=20), st.integers(0, 40), st.integers(0, 99))
def test_the_budget_is_filled_as_by_a_walk(lengths, budget, seed):
    order = np.random.default_rng(seed).permutation(len(lengths))
    taken, left = [], budget
    for one in order:
        if lengths[one] <= left:
            taken, left = [*taken, int(one)], left - lengths[one]
    found = take(np.array(lengths, dtype=np.int64), budget, np.random.default_rng(seed))
    assert found.tolist() == sorted(taken)


def test_treatments_of_ten_thousand_occurrences():
    """One draw for each occurrence: 80, 10 and 10 percent within five standard deviations, and none is mixed."""
    rng = np.random.default_rng(0)
    ids = np.tile(rng.integers(3, 60, (10_000, 3)), 1).astype(np.int32)
    types = np.tile(np.array([FIRST | CONCEPT | OPENS, FURTHER | CONCEPT, FIRST | CONCEPT], np.int16), (10_000, 1))
    batch = batch_of((ids, types, np.full(10_000, 3)), budget=1.0)
    found = batch["input_ids"]
    masked, kept = (found == MASK).all(axis=1), (found == ids).all(axis=1)
    assert ((found == MASK).any(axis=1) == masked).all()
    for share, expected in ((masked.mean(), 0.8), (kept.mean(), 0.1)):
        assert share == pytest.approx(expected, abs=5 * (expected * (1 - expected) / 10_000) ** 0.5)
    drawn = found[~masked & ~kept]
    assert drawn.min() == 3 and drawn.max() == 59
    # Independent of the original and of one another: equal by chance in one of 57.
    assert (drawn == ids[~masked & ~kept]).mean() == pytest.approx(1 / 57, abs=0.012)
    assert (drawn[:, 0] == drawn[:, 1]).mean() == pytest.approx(1 / 57, abs=0.02)


def test_a_batch_without_a_concept_has_loss_0_and_is_counted():
    from reprlab.models.build import build_from_config

    ids = np.full((2, 6), 7, dtype=np.int32)
    batch = batch_of((ids, np.full(ids.shape, FIRST, np.int16), np.full(2, 6)))
    assert (batch["labels"] == -100).all()
    objective = Objective(Settings(), VOCABULARY, 8, 8)
    model = build_from_config(small_bert(), VOCABULARY.padded_size, 0)
    loss, parts = objective.loss(model, {name: torch.from_numpy(value) for name, value in batch.items()})
    loss.backward()
    assert loss.item() == 0 and int(parts["empty_part"]) == int(parts["empty_whole"]) == 1
    assert int(parts["masked_part"]) == 0 and int(parts["masked_whole"]) == 12


def small_bert():
    from pathlib import Path

    from reprlab.registry.models import load_models

    return load_models(Path(__file__).parents[2] / "config/models.yaml")["bert_nano_mlm"]


def test_a_published_tokenizer_says_what_is_special(tmp_path):
    from transformers import BertTokenizerFast

    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c"]))
    BertTokenizerFast(vocab=str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    found = MaskVocabulary.load(tmp_path)
    assert (found.mask_id, found.special, found.size) == (4, (0, 1, 2, 3, 4), 8)
    assert set(found.draw(np.random.default_rng(0), 100).tolist()) == {5, 6, 7}
    own = MaskVocabulary.of(VOCABULARY)
    assert own.mask_id == MASK and not own.is_special(np.arange(3, 60)).any()
    # As masked language modelling has always drawn them.
    drawn = own.draw(np.random.default_rng(3), (4, 5))
    assert (drawn == np.random.default_rng(3).integers(3, 60, (4, 5))).all()


def trained_on(marked, work, accumulation=1, log_every=1):
    """The log of updates whose batches, or parts of batches, have concepts or none."""
    from reprlab.models.build import build_from_config
    from reprlab.training.engine import train

    ids = np.full((2, 6), 7, dtype=np.int32)
    kinds = {False: np.full(ids.shape, FIRST, np.int16), True: np.full(ids.shape, FIRST | CONCEPT | OPENS, np.int16)}
    batches = [batch_of((ids, kinds[one], np.full(2, 6))) for one in marked]
    objective = Objective(Settings(), VOCABULARY, 8, 8)
    run = train(
        build_from_config(small_bert(), VOCABULARY.padded_size, 0),
        lambda step, part, *_: {
            name: torch.from_numpy(value) for name, value in batches[step * accumulation + part].items()
        },
        objective.loss,
        EngineSettings(
            steps=len(marked) // accumulation,
            batch_size=2 * accumulation,
            accumulation=accumulation,
            optimizer={"learning_rate": 1e-3},
            log_every=log_every,
        ),
        work=work,
        save_every=100,
        fingerprint="f",
        on_checkpoint=lambda step, model: None,
        device="cpu",
    )
    return run.metrics


def test_training_goes_on_after_a_batch_without_a_concept(tmp_path):
    log = trained_on([False, True, False], tmp_path)
    assert [row["empty_share"] for row in log] == [100, 0, 100]
    assert [row["loss"] for row in log] == [0, pytest.approx(log[1]["objective"]), 0] and log[1]["loss"] > 0
    assert [row["masked_share"] for row in log] == [0, pytest.approx(200 / 12), 0]


def test_a_batch_in_parts_is_empty_where_all_of_them_are(tmp_path):
    log = trained_on([False, True, False, False, True, True], tmp_path, accumulation=2)
    assert [row["empty_share"] for row in log] == [0, 100, 0]
    assert [row["loss"] > 0 for row in log] == [True, False, True] and log[1]["loss"] == 0


def test_the_log_has_the_extremes_of_single_batches(tmp_path):
    """Two updates a row: of one and of no label among twelve tokens; their mean alone would hide the larger one."""
    first, second = trained_on([False, True, True, True], tmp_path, log_every=2)
    assert first["masked_share"] == pytest.approx(100 / 12)
    assert [first["masked_share_least"], first["masked_share_most"]] == [0, pytest.approx(200 / 12)]
    assert [second["masked_share_least"], second["masked_share_most"]] == [pytest.approx(200 / 12)] * 2
    assert (first["empty_share"], second["empty_share"]) == (50, 0)
