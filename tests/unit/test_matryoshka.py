"""2D Matryoshka: known answers, the plain loss at no strength, what is drawn, and the same losses by others."""

import collections
import itertools
import random

import numpy as np
import pytest
import torch
from drawn_decoders import SIZES, decoder, texts
from finetune_fixtures import make_tokenizer
from pydantic import ValidationError
from reprlab.models.build import build_from_config, save_model
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.contrastive import contrastive_loss
from reprlab.sentences.encoder import build_encoder, load_encoder, save_encoder, trained_weights
from reprlab.sentences.matryoshka import NestedLoss, divergence, drawn_place, nested_loss, nested_vectors
from reprlab.sentences.settings import ContrastiveTraining, EncoderSettings, Matryoshka2D
from reprlab.sentences.training import triple_loss

pytestmark = pytest.mark.usefixtures("one_thread")
OBJECTIVE = {"narrowest": 2, "weight": 0.7, "alignment": 0.3, "temperature": 2.0}
FULL = EncoderSettings.model_validate({"method": "full", "pooling": "weighted_mean"})
TEXTS = texts(18)
BATCH = TEXTS.batch(np.arange(18))


def added(temperature=0.05, **own):
    return NestedLoss(Matryoshka2D.model_validate({**OBJECTIVE, **own}), FULL, temperature)


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_both_halves_are_the_vectors_of_the_whole_and_of_the_cut_encoder_bit_by_bit(name, bidirectional):
    settings = FULL.model_copy(update={"bidirectional": bidirectional})
    for layer in (1, 3):
        whole = build_encoder(decoder(name), settings, 0)
        cut = build_encoder(decoder(name), settings.model_copy(update={"layers": layer}), 0)
        with torch.no_grad():
            found = nested_vectors(whole, settings, layer, BATCH)
            assert torch.equal(found, torch.cat([whole(BATCH), cut(BATCH)], dim=1)), layer


def test_the_losses_by_hand():
    torch.manual_seed(0)
    last, shallow = torch.randn(2, 9, 16)
    base = lambda vectors: contrastive_loss(*vectors.chunk(3), 0.05)[0]  # noqa: E731
    expected = 0.7 * (base(shallow) + base(last[:, :4]) + base(shallow[:, :4])) + 0.3 * divergence(last, shallow, 2.0)
    assert added().added(4, last, shallow).item() == pytest.approx(expected.item(), rel=1e-6)
    # At the last layer with all dimensions there is nothing but the plain loss.
    assert added(weight=1.0).added(16, last, last).item() == pytest.approx(3 * base(last).item(), rel=1e-6)
    assert added(weight=0.0, alignment=1.0).added(4, last, last).item() == 0


def test_the_divergence_of_two_known_distributions():
    """KL((1/2, 1/4, 1/4) || uniform) = 1/2 ln 3/2 + 1/2 ln 3/4; the vectors are their logarithms times t."""
    teacher = torch.tensor([[0.5, 0.25, 0.25], [1 / 3] * 3], dtype=torch.float64).log().requires_grad_()
    student = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    known = (np.log(1.5) + np.log(0.75)) / 2
    for temperature in (1.0, 0.5):
        # Of the second text both are uniform; a shift of all dimensions changes no distribution.
        found = divergence(teacher * temperature + 3, student, temperature)
        assert found.item() == pytest.approx(temperature * known / 2)
    found.backward()
    assert teacher.grad is None and student.grad.abs().max() > 0.01


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_without_weights_loss_and_gradients_are_the_plain_ones_bit_by_bit(dropout):
    adapter = {"rank": 2, "alpha": 4, "dropout": dropout, "targets": ["q_proj", "up_proj"]}
    settings = EncoderSettings.model_validate({"method": "lora", "pooling": "weighted_mean", "adapter": adapter})
    found = []
    for weights in (None, {"weight": 0.0, "alignment": 0.0}, {}):
        encoder = build_encoder(decoder(), settings, 0).train()
        with torch.no_grad():
            for weight in trained_weights(encoder).values():
                weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)) / 9)
        objective = None if weights is None else Matryoshka2D.model_validate({**OBJECTIVE, **weights})
        torch.manual_seed(5)
        loss, sums = triple_loss(0.05, 5, objective and NestedLoss(objective, settings, 0.05))(encoder, BATCH)
        loss.backward()
        gradients = [weight.grad for weight in trained_weights(encoder).values()]
        found.append([loss.detach(), *sums.values(), *gradients])
    plain, none, some = found
    assert all(map(torch.equal, plain, none)) and not torch.equal(plain[0], some[0])
    assert all(map(torch.equal, plain[1:6], some[1:6])), "the log has the plain loss"


def test_each_layer_but_the_last_and_each_prefix_but_all_is_drawn_evenly_by_the_seed():
    drawn = []
    for seed in range(1200):
        torch.manual_seed(seed)
        state = torch.get_rng_state()
        drawn.append(drawn_place(4, 576, 8))
        assert drawn_place(4, 576, 8) == drawn[-1] and torch.equal(torch.get_rng_state(), state)
    counts = collections.Counter(drawn)
    assert {*counts} == {*itertools.product((1, 2, 3), (8, 16, 32, 64, 128, 256, 512))}
    # 57 of each are expected, with a deviation of 7.
    assert min(counts.values()) > 30 and max(counts.values()) < 90
    torch.manual_seed(0)
    torch.rand(3)
    assert drawn_place(4, 576, 8) == drawn[0], "whatever was drawn before"
    assert {drawn_place(2, 64, narrowest) for narrowest in (32, 63)} == {(1, 32), (1, 63)}


@pytest.mark.parametrize(("layers", "narrowest"), [(1, 8), (4, 64)])
def test_nothing_to_draw_is_told(layers, narrowest):
    with pytest.raises(ReprlabError, match=rf"{layers} layers and 64 dimensions.*narrowest \({narrowest}\) below 64"):
        drawn_place(layers, 64, narrowest)


def test_what_was_trained_whole_is_cut_where_it_is_loaded(tmp_path):
    whole = build_encoder(decoder(), FULL, 0)
    save_encoder(whole, FULL, tmp_path)
    with torch.no_grad():
        expected = nested_vectors(whole, FULL, 2, BATCH)[:, 16:]
        network = decoder()
        assert torch.equal(load_encoder(network, tmp_path, layers=2)(BATCH), expected)
        assert network.config.num_hidden_layers == 2
        assert torch.equal(load_encoder(decoder(), tmp_path)(BATCH), whole(BATCH))
    with pytest.raises(ReprlabError, match="keep from 1 to 4, not 5"):
        load_encoder(decoder(), tmp_path, layers=5)


def training(**own):
    engine = {"steps": 4, "batch_size": 6, "optimizer": {"learning_rate": 1.0}, "schedule": {"name": "linear"}}
    given = {"learning_rates": [1e-2], "seeds": [0], "temperature": 0.05, "evaluate_every": 2}
    return ContrastiveTraining.model_validate({"encoder": FULL, "engine": engine, **given, **own})


def test_settings_without_an_objective_are_written_as_before_there_was_one():
    assert "objective" not in training().model_dump() and "objective" not in training().model_dump_json()
    objective = Matryoshka2D.model_validate(OBJECTIVE)
    given = training(objective=objective)
    assert ContrastiveTraining.model_validate_json(given.model_dump_json()) == given
    assert nested_loss(training()) is None and nested_loss(given) == NestedLoss(objective, FULL, 0.05)


@pytest.mark.parametrize(
    "encoder",
    [
        {"method": "prompt", "vectors": 2, "pooling": "last"},
        {"method": "full", "pooling": "mean", "both_ends": True},
        {"method": "none", "pooling": "first", "pooler": True},
    ],
)
def test_encoders_that_it_does_not_fit_are_refused(encoder):
    with pytest.raises(ValidationError, match="objective: of states as they are"):
        training(encoder=encoder, objective=OBJECTIVE)


def test_sentence_transformers_has_the_same_loss(tmp_path, monkeypatch):
    """Of a decoder whose final norm does nothing: theirs leaves it out behind the layers in between."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    vocabulary = make_tokenizer(tmp_path)
    config = {**SIZES["llama"], "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1}
    config |= {"vocab_size": vocabulary.padded_size}
    entry = ModelEntry(architecture="llama", config=config, source="x", tie_output=True, origin={"kind": "scratch"})
    ours = build_from_config(entry, vocabulary.padded_size, seed=0)
    save_model(ours, tmp_path)
    reader = Transformer(str(tmp_path))
    model = SentenceTransformer(modules=[reader, Pooling(16, "mean")], device="cpu")
    reader.auto_model.norm = ours.base_model.norm = torch.nn.Identity()
    settings = FULL.model_copy(update={"pooling": "mean"})
    encoder = build_encoder(ours, settings, 0)
    ids = torch.randint(3, 30, (18, 5), generator=torch.Generator().manual_seed(0))
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    columns = [{name: part[side * 6 : side * 6 + 6] for name, part in batch.items()} for side in range(3)]
    for layer, length in ((1, 4), (3, 8)):
        monkeypatch.setattr(random, "sample", lambda given, count, layer=layer: [layer])
        ranking = losses.MultipleNegativesRankingLoss(model, scale=1 / 0.05)
        nested = losses.MatryoshkaLoss(model, ranking, [16, length])
        theirs = losses.AdaptiveLayerLoss(model, nested, kl_div_weight=0.3, kl_temperature=2.0)(columns, None)
        vectors = nested_vectors(encoder, settings, layer, {**batch, "text_mask": batch["attention_mask"]})
        base, _ = contrastive_loss(*vectors[:, :16].chunk(3), 0.05)
        found = base + added(weight=1.0).added(length, *vectors.chunk(2, dim=1))
        assert found.item() == pytest.approx(theirs.item(), rel=1e-5)
        theirs.backward()
        found.backward()
        for name, weight in ours.base_model.named_parameters():
            torch.testing.assert_close(weight.grad, reader.auto_model.get_parameter(name).grad, rtol=1e-4, atol=1e-5)
        for network in (encoder, model):
            network.zero_grad()
