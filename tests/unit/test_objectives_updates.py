"""One update of every objective on one thread: golden numbers, and what a batch may depend on."""

import importlib
import pkgutil

import numpy as np
import pytest
import torch
from pydantic import BaseModel
from reprlab import objectives
from reprlab.concepts.marks import CONCEPT, FIRST, FURTHER, OPENS
from reprlab.objectives import causal_lm, masked_concepts
from reprlab.objectives.objective import PretrainingObjective
from reprlab.text.mask_vocabulary import MaskVocabulary
from reprlab.text.vocabulary import Vocabulary
from transformers import (
    BertConfig,
    BertForMaskedLM,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

pytestmark = pytest.mark.usefixtures("one_thread")

VOCABULARY = Vocabulary(50)
NAMES = [
    name
    for _, name, _ in pkgutil.iter_modules(objectives.__path__)
    if hasattr(importlib.import_module(f"reprlab.objectives.{name}"), "Objective")
]
# Loss, labels, hits of the argmax, loss of the same batch after one step of SGD with a rate of 0.5.
GOLDEN = {
    "causal_lm": (5.82316, 129, 2, 5.08764),
    "depth": (7.27521, 64, 0, 7.12055),
    "masked_concepts": (5.38856, 24, 0, 4.83578),
    "masked_lm": (6.03707, 15, 0, 5.12444),
    "mntp": (5.79735, 20, 0, 4.83031),
    "t5": (7.46656, 50, 0, 6.12983),
}


class Published:
    """A tokenizer as `mntp` reads it: a word for the mask, and special ids."""

    all_special_ids = (0, 1, 2)

    def get_vocab(self):
        return {"_": 3}

    def __len__(self):
        return 50


def objective_of(name, **settings):
    module = importlib.import_module(f"reprlab.objectives.{name}")
    vocabulary = Published() if name == "mntp" else VOCABULARY
    return module.Objective(module.Settings(**settings), vocabulary, 24, 24)


def rows_of(objective, count=6):
    """Three sentences a row in the objective's format, the last row shorter than the others."""
    rng = np.random.default_rng(5)
    ids, types = np.zeros((count, 24), np.int32), np.zeros((count, 24), np.int16)
    lengths = np.array([24] * (count - 1) + [15])
    for row, length in enumerate(lengths):
        words = rng.integers(4, 50, 24)
        kinds = np.repeat([1, 2, 3], 8)
        if objective.token_format == "depth":
            for number, name in enumerate(rng.permutation(20)[:3]):
                words[8 * number] = VOCABULARY.first_sentence + name
                words[8 * number + 7] = VOCABULARY.eosen_id
        words[length - 1] = VOCABULARY.eos_id
        ids[row, :length], types[row, :length] = words[:length], kinds[:length]
    if isinstance(objective, masked_concepts.Objective):
        # Two pieces of one concept at the start of every sentence, and words of one piece.
        types = np.where(types > 0, FIRST, 0)
        types[:, 1::8], types[:, 2::8] = FIRST | CONCEPT | OPENS, FURTHER | CONCEPT
        types = np.where(ids > 2, types, 0).astype(np.int16)
    return ids, types, lengths


def batch_of(objective, seed=3, **more):
    ids, types, lengths = rows_of(objective)
    found = objective.collate(ids, types, lengths, np.random.default_rng(seed), **more)
    return {name: torch.from_numpy(np.asarray(array)) for name, array in found.items()}


def model_of(name):
    torch.manual_seed(0)
    size = VOCABULARY.padded_size
    if name in ("t5", "depth"):
        config = T5Config(
            vocab_size=size, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, dropout_rate=0.3,
            feed_forward_proj="gated-gelu", decoder_start_token_id=0, initializer_factor=1.5,
        )  # fmt: skip
        return T5ForConditionalGeneration(config)
    if name in ("causal_lm", "mntp"):
        config = LlamaConfig(
            vocab_size=size, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=2, max_position_embeddings=32, initializer_range=0.3, attention_dropout=0.3,
        )  # fmt: skip
        return LlamaForCausalLM(config)
    config = BertConfig(
        vocab_size=size, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32, initializer_range=0.3, hidden_dropout_prob=0.3,
    )  # fmt: skip
    return BertForMaskedLM(config)


@pytest.mark.parametrize("name", NAMES)
def test_one_update_has_its_golden_numbers(name):
    """Evaluated without dropout; sums of float32 differ between processors by 1e-6 of these."""
    objective, model = objective_of(name), model_of(name).eval()
    batch = batch_of(objective)
    loss, parts = objective.loss(model, batch)
    assert not any(part.requires_grad for part in parts.values())
    again, same = objective.loss(model, batch)
    assert torch.equal(loss, again) and all(torch.equal(parts[key], same[key]) for key in parts)
    assert loss.item() == pytest.approx(float(parts["loss_sum"]) / float(parts["count"]), rel=1e-5)
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter -= 0.5 * parameter.grad
        after, _ = objective.loss(model, batch)
    found = (loss.item(), int(parts["count"]), int(parts["correct"]), float(after))
    assert found == pytest.approx(GOLDEN[name], abs=2e-3)
    assert after < loss
    model.train()
    assert not torch.equal(objective.loss(model, batch)[0], objective.loss(model, batch)[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_its_rows_and_its_seed_alone(name):
    objective = objective_of(name)
    ids, types, lengths = rows_of(objective)
    one, same, other = (batch_of(objective, seed) for seed in (3, 3, 4))
    assert all(torch.equal(one[key], same[key]) for key in one)
    drawn = any(one[key].shape != other[key].shape or not torch.equal(one[key], other[key]) for key in one)
    assert drawn == (name != "causal_lm"), "nothing is drawn for plain language modelling"
    assert all(array.dtype in (torch.int64, torch.bool) for array in one.values())
    full = objective.collate(ids, types, lengths, np.random.default_rng(3), fixed_length=True)
    loss, _ = objective.loss(model_of(name).eval(), {key: torch.from_numpy(value) for key, value in full.items()})
    assert loss.item() == pytest.approx(objective.loss(model_of(name).eval(), one)[0].item(), rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_defaults_of_an_objective_are_values_that_it_takes(name):
    settings: type[BaseModel] = importlib.import_module(f"reprlab.objectives.{name}").Settings
    assert settings.model_validate(settings().model_dump()) == settings()
    assert issubclass(importlib.import_module(f"reprlab.objectives.{name}").Objective, PretrainingObjective)


def test_of_masked_tokens_eight_in_ten_are_hidden_one_is_drawn_and_one_stays():
    objective = objective_of("masked_lm", mask_probability=0.3)
    rng = np.random.default_rng(0)
    ids = rng.integers(3, 50, (2000, 24)).astype(np.int32)
    ids[:, 5] = VOCABULARY.eos_id
    lengths = np.where(np.arange(2000) % 2, 24, 12)
    ids *= np.arange(24) < lengths[:, None]
    batch = objective.collate(ids, ids * 0, lengths, np.random.default_rng(1))
    chosen = batch["labels"] != -100
    ordinary = (np.arange(24) < lengths[:, None]) & (ids > 2)
    assert not chosen[~ordinary].any() and np.array_equal(batch["ordinary"], ordinary)
    assert np.array_equal(batch["labels"][chosen], ids[chosen])
    assert np.array_equal(batch["input_ids"][~chosen], ids[~chosen])
    assert np.array_equal(batch["attention_mask"], np.arange(24) < lengths[:, None])
    count = int(ordinary.sum())
    assert chosen.sum() / count == pytest.approx(0.3, abs=4 * (0.3 * 0.7 / count) ** 0.5)
    seen, was = batch["input_ids"][chosen], ids[chosen]
    masks = MaskVocabulary.of(VOCABULARY)
    share = {"hidden": (seen == masks.mask_id).mean(), "as it was": (seen == was).mean()}
    spread = 4 * (0.16 / chosen.sum()) ** 0.5
    assert share["hidden"] == pytest.approx(0.8, abs=spread)
    # One of 47 that are drawn is the token itself.
    assert share["as it was"] == pytest.approx(0.1 + 0.1 / 47, abs=spread)
    drawn = seen[(seen != masks.mask_id) & (seen != was)]
    assert not masks.is_special(drawn).any() and len(set(drawn.tolist())) == 47


def test_a_decoder_learns_ids_of_a_published_tokenizer(tmp_path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    assert causal_lm.Objective.open_vocabulary(tmp_path) is None
