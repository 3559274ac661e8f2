"""Replay: blocks of other text in the batches of continued pre-training, as functions of seed and step."""

from pathlib import Path

import numpy as np
import pyarrow
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.artifacts.tables import read_tsv, write_parquet
from reprlab.concepts.files import BLOCK_COLUMNS
from reprlab.concepts.marks import CONCEPT, FIRST, OPENS
from reprlab.registry.models import load_models
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_model import build_model
from reprlab.stages.pretrain_lm import pretrain_lm
from reprlab.text.token_store import TokenStore
from reprlab.text.vocabulary import Vocabulary
from reprlab.training import engine as training_engine
from reprlab.training.batches import PretrainingBatches, replay_of
from reprlab.training.objective import load_objective
from reprlab.training.replay import Replay, joined
from reprlab.training.settings import EngineSettings, PretrainSettings

pytestmark = pytest.mark.usefixtures("one_thread")
VOCABULARY = Vocabulary(60, 1, 1)
MASK = VOCABULARY.first_sentinel
# Tokens of the domain are below it, those of the general text are not.
GENERAL = 30
ENTRY = load_models(Path(__file__).parents[2] / "config" / "models.yaml")["bert_nano_mlm"]


def write_blocks(path, blocks, length, ids):
    """Blocks of one-piece words; the third word of each is a concept."""
    drawn = np.random.default_rng(5).integers(*ids, (blocks, length)).astype(np.int32)
    drawn[:, -1] = VOCABULARY.eos_id
    types = np.full(drawn.shape, FIRST, dtype=np.int16)
    types[:, 2] |= CONCEPT | OPENS
    types[:, -1] = 0
    columns = {"split": ["train"] * blocks, "input_ids": drawn.tolist(), "token_types": types.tolist()}
    write_parquet(path, pyarrow.table(columns, schema=pyarrow.schema(BLOCK_COLUMNS[:3])))


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Folder with short blocks of a domain, longer ones of general text, a vocabulary and a model."""
    folder = tmp_path_factory.mktemp("texts")
    write_blocks(folder / "domain.parquet", 24, 7, (3, GENERAL))
    write_blocks(folder / "general.parquet", 10, 12, (GENERAL, 60))
    VOCABULARY.save(folder / "tokenizer")
    build_model(entry=ENTRY, tokenizer=folder / "tokenizer", out=folder / "model", seed=0)
    return folder


def settings_of(share=None, seed=3, **engine):
    values = {"steps": 6, "ladder": [3, 6], "batch_size": 8, "log_every": 2, "seed": seed, **engine}
    replay = {"share": share, "objective": "masked_lm", "objective_settings": {"mask_probability": 0.5}}
    return PretrainSettings.model_validate(
        {
            "objective": "masked_concepts",
            "objective_settings": {"budget": 0.5},
            "input_length": 12,
            "target_length": 12,
            "engine": {**values, "optimizer": {"learning_rate": 1e-2}},
            "replay": None if share is None else replay,
        }
    )


def batches_of(texts, given):
    replay = replay_of(given, texts / "general.parquet" if given.replay else None, texts / "tokenizer")
    store = TokenStore.open(texts / "domain.parquet", "train")
    return PretrainingBatches(store, load_objective(given, texts / "tokenizer"), given, replay=replay)


def originals(batch):
    """[rows, tokens] ids before they were masked."""
    return torch.where(batch["labels"] >= 0, batch["labels"], batch["input_ids"])


def pretrain(texts, folder, given):
    pretrain_lm(
        tokens=texts / "domain.parquet", replay=texts / "general.parquet" if given.replay else None,
        tokenizer=texts / "tokenizer", init=texts / "model", out=folder / "ladder", metrics=folder / "metrics.tsv",
        throughput=folder / "speed.tsv", work=folder / "work", settings=given, fingerprint="x", save_every=2,
    )  # fmt: skip


def bytes_of(folder, *more):
    paths = [*(path for path in (folder / "ladder").rglob("*") if path.is_file()), *(folder / one for one in more)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def replay(share, rows, batch_size, seed=0):
    engine = EngineSettings(steps=1, batch_size=batch_size, optimizer={"learning_rate": 1.0}, seed=seed)
    return Replay(share, rows, engine, lambda numbers, random: {})


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.9]), st.integers(1, 40), st.integers(1, 64), st.integers(0, 9)
)
def test_the_share_is_reached_and_no_example_comes_twice_before_all_came(share, rows, batch_size, seed):
    one, steps = replay(share, rows, batch_size, seed), range(25)
    places, read = ([of(step) for step in steps] for of in (one.places, one.rows))
    for step in steps:
        assert len(places[step]) == len(read[step]) == len(set(places[step].tolist()))
        assert sum(map(len, places[: step + 1])) == pytest.approx(share * batch_size * (step + 1), abs=1)
        assert ((places[step] >= 0) & (places[step] < batch_size)).all()
    # A whole number of examples is reached exactly, in doubles as well.
    assert sum(len(replay(share, rows, 20, seed).rows(step)) for step in range(5)) == round(100 * share)
    seen = np.concatenate(read)
    for first in range(0, len(seen) - rows + 1, rows):
        assert sorted(seen[first : first + rows]) == list(range(rows))
    # Any order of asking gives the same.
    again = replay(share, rows, batch_size, seed)
    assert all((again.rows(step) == read[step]).all() for step in reversed(steps))


def test_order_and_places_differ_by_step_epoch_and_seed():
    one, other = replay(0.5, 64, 64), replay(0.5, 64, 64, seed=1)
    assert (one.places(0) != one.places(1)).any() and (one.places(0) != other.places(0)).any()
    first, second = (np.concatenate([one.rows(step) for step in steps]) for steps in ((0, 1), (2, 3)))
    assert sorted(first) == sorted(second) and (first != second).any() and (one.rows(0) != other.rows(0)).any()


def test_replayed_blocks_take_places_of_a_batch_whose_others_stay(texts):
    plain, mixed = batches_of(texts, settings_of()), batches_of(texts, settings_of(0.25))
    masked = 0
    for step in range(12):
        before, batch = plain(step, 0, 0, 1), mixed(step, 0, 0, 1)
        assert int(batch["replayed"].sum()) == 2, "counted in the batch that is read"
        found = originals(batch)
        general = ((found >= GENERAL) & (found < 60)).any(1)
        assert (general == batch["replayed"]).all()
        assert (found[~general][:, :7] == originals(before)[~general]).all()
        assert (batch["tokens"] == torch.where(general, 12, 7)).all()
        # What the longer blocks have more of is padding of the others: not seen, not predicted.
        for name, nothing in (("attention_mask", 0), ("labels", -100), ("input_ids", 0), ("ordinary", 0)):
            assert (batch[name][~general][:, 7:] == nothing).all()
        # Concepts of the domain are masked; of the general text, in which concepts stand too, random tokens are.
        assert set((batch["labels"][~general] != -100).nonzero()[:, 1].tolist()) <= {2}
        masked += (batch["labels"][general] != -100).sum(0)
    assert (masked[:-1] > 0).all() and masked[-1] == 0
    assert 0.35 < float(masked.sum()) / (12 * 2 * 11) < 0.65


def test_nothing_replayed_is_the_training_without_replay_bit_for_bit(texts, tmp_path):
    for name, share in (("plain", None), ("zero", 0.0)):
        pretrain(texts, tmp_path / name, settings_of(share))
    assert bytes_of(tmp_path / "plain") == bytes_of(tmp_path / "zero")
    plain, zero = (read_tsv(tmp_path / name / "metrics.tsv") for name in ("plain", "zero"))
    assert zero[[*plain]].equals(plain) and (zero["replayed_share"] == 0).all() and "replayed_share" not in plain


def test_a_run_that_was_killed_goes_on_to_the_same_bytes_and_says_what_was_replayed(texts, tmp_path, monkeypatch):
    given = settings_of(0.25, accumulation=2)
    pretrain(texts, tmp_path / "whole", given)
    save = training_engine.save_resume_point

    def killed(work, progress, *state):
        save(work, progress, *state)
        if progress.step == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(training_engine, "save_resume_point", killed)
        pretrain(texts, tmp_path / "cut", given)
    assert not (tmp_path / "cut/ladder").exists()
    pretrain(texts, tmp_path / "cut", given)
    assert bytes_of(tmp_path / "cut", "metrics.tsv") == bytes_of(tmp_path / "whole", "metrics.tsv")
    metrics = read_tsv(tmp_path / "whole/metrics.tsv")
    assert (metrics["replayed_share"] == 25).all() and (metrics["replayed_share_most"] == 25).all()
    assert metrics["replayed_tokens_share"].tolist() == pytest.approx([100 * 24 / 66] * len(metrics))
    assert metrics["tokens"].iloc[-1] == 6 * 66
    assert (
        bytes_of(tmp_path / "whole")
        != (pretrain(texts, tmp_path / "none", settings_of()), bytes_of(tmp_path / "none"))[1]
    )


def test_other_text_that_nobody_asks_for_or_that_is_missing_is_refused(texts):
    for asked, path in ((settings_of(0.1), None), (settings_of(), texts / "general.parquet")):
        with pytest.raises(ReprlabError, match="give both or neither"):
            replay_of(asked, path, texts / "tokenizer")


def test_batches_of_another_kind_are_refused():
    one, two = ({name: torch.zeros(1, 2)} for name in ("labels", "decoder_ids"))
    with pytest.raises(ReprlabError, match="differ in decoder_ids, labels"):
        joined([(np.array([0]), one), (np.array([1]), two)])
