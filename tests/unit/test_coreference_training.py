"""Aggregation, frozen encoders, cached states, training with resume, and early stopping."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from coreference_samples import bert_tokenizer, text
from reprlab.coreference.aggregation import Aggregator, read_layers
from reprlab.coreference.model import CoreferenceModel, document_tensors, input_tensors, loss_of, open_encoder
from reprlab.coreference.segments import segment_text
from reprlab.coreference.settings import AggregationSettings, CoreferenceTraining, HeadSettings, SegmentSettings
from reprlab.coreference.states import StoredStates, hidden_states, write_states
from reprlab.coreference.training import Probe, no_denormals
from reprlab.runtime.errors import ReprlabError
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

ATTENTION = AggregationSettings(aggregation="attention")
MEAN = AggregationSettings(aggregation="mean")


def parameters(sources: int, width: int, settings: AggregationSettings) -> int:
    with torch.device("meta"):
        return sum(one.numel() for one in Aggregator(sources, width, settings).parameters())


def test_parameters_of_the_aggregator() -> None:
    """Section 5."""
    assert [parameters(n, 768, ATTENTION) for n in (1, 2, 4)] == [787_456, 1_476_480, 2_854_528]
    assert parameters(1, 768, ATTENTION.model_copy(update={"concatenated": 4})) == 3_146_752
    assert parameters(1, 768, ATTENTION.model_copy(update={"concatenated": 4})) == 3_146_752
    assert parameters(4, 768, MEAN) == 0
    assert parameters(3, 768, AggregationSettings(aggregation="attention", attention="paper")) == 769


def test_attention_over_one_source_is_a_linear_layer() -> None:
    torch.manual_seed(0)
    one, states = Aggregator(1, 8, ATTENTION), torch.randn(1, 5, 8)
    found, weights = one(states)
    assert torch.equal(found, one.values[0](states[0])) and torch.equal(weights, torch.ones(1, 5))


def test_copies_of_a_source_with_shared_projections_weigh_alike() -> None:
    torch.manual_seed(0)
    many, states = Aggregator(3, 8, ATTENTION), torch.randn(1, 5, 8)
    for layer in (*many.keys, *many.values):
        layer.load_state_dict((many.keys if layer in many.keys else many.values)[0].state_dict())
    found, weights = many(states.expand(3, -1, -1))
    torch.testing.assert_close(found, many.values[0](states[0]))
    torch.testing.assert_close(weights, torch.full((3, 5), 1 / 3))


def test_the_constant_query_learns_its_bias_alone() -> None:
    torch.manual_seed(0)
    many = Aggregator(2, 8, ATTENTION)
    many(torch.randn(2, 5, 8))[0].square().sum().backward()
    assert not many.query.weight.grad.any() and many.query.bias.grad.any()
    assert all(layer.weight.grad.any() for layer in (*many.keys, *many.values))


def test_weights_are_over_sources_for_each_token() -> None:
    torch.manual_seed(0)
    for attention in ("factored", "paper"):
        _, weights = Aggregator(3, 8, ATTENTION.model_copy(update={"attention": attention}))(torch.randn(3, 5, 8))
        torch.testing.assert_close(weights.sum(0), torch.ones(5))
        assert not torch.allclose(weights[:, 0], weights[:, 1])


def test_mean_and_sum_and_norm() -> None:
    torch.manual_seed(0)
    states = torch.randn(1, 5, 8).expand(4, -1, -1)
    torch.testing.assert_close(Aggregator(4, 8, MEAN)(states)[0], states[0])
    total = AggregationSettings(aggregation="sum")
    torch.testing.assert_close(Aggregator(4, 8, total)(states)[0], 4 * states[0])
    normed = AggregationSettings(aggregation="mean", normalise=True)
    assert (Aggregator(2, 8, normed)(torch.randn(2, 5, 8))[0].norm(dim=-1) <= 1 + 1e-6).all()
    torch.testing.assert_close(Aggregator(1, 8, normed)(states[:1])[0].norm(dim=-1), torch.ones(5))


def test_the_printed_attention_has_no_projection() -> None:
    torch.manual_seed(0)
    one, states = Aggregator(2, 8, ATTENTION.model_copy(update={"attention": "paper"})), torch.randn(2, 5, 8)
    weights = (states @ one.score.weight[0]).softmax(0)
    torch.testing.assert_close(one(states)[0], (weights[..., None] * states).sum(0))


def test_what_cannot_be_joined_is_refused() -> None:
    with pytest.raises(ValueError, match="only factored attention"):
        AggregationSettings(aggregation="mean", concatenated=4)
    with pytest.raises(ValueError, match="not normalised"):
        AggregationSettings(aggregation="attention", concatenated=4, normalise=True)


def test_layers_are_joined_without_the_embedding_layer() -> None:
    hidden = [torch.full((2, 3), float(number)) for number in range(13)]
    assert read_layers(hidden, 12, 4).tolist()[0] == [9.0] * 3 + [10.0] * 3 + [11.0] * 3 + [12.0] * 3
    assert read_layers(hidden, 12, 12)[0, 0] == 1


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> dict:
    """Two encoders of three layers with dropout, their tokenizer and some documents."""
    from transformers import BertConfig, BertForTokenClassification, BertModel

    folder = tmp_path_factory.mktemp("sources")
    tokenizer = bert_tokenizer(folder / "tokenizer")
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=3, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, hidden_dropout_prob=0.3,
    )  # fmt: skip
    found = []
    for name, kind in (("plain", BertModel), ("tagger", BertForTokenClassification)):
        torch.manual_seed(len(name))
        kind(config).save_pretrained(folder / name)
        found.append(folder / name)
    said = "emma was good|the film was bad|he was bad|emma was good|the film was good|she was good|the film was bad"
    texts = [text(said, [[(0, 0), (10, 10)], [(7, 7), (3, 4)]], key=f"d{number}") for number in range(3)]
    cut = SegmentSettings(segment_length=12)
    documents = [segment_text(one, tokenizer, cut) for one in texts]
    return {"folders": found, "tokenizer": tokenizer, "documents": documents}


def test_a_cut_encoder_gives_the_hidden_state_bit_by_bit(sources: dict) -> None:
    """Section 5: trunc(l) is hidden_states[l], and l = 3 is the whole."""
    inputs = input_tensors(sources["documents"][0], sources["tokenizer"])
    for folder in sources["folders"]:
        whole = open_encoder(folder).eval()
        with torch.no_grad():
            hidden = whole(**inputs, output_hidden_states=True).hidden_states
            for layer in (1, 2, 3):
                cut = open_encoder(folder, layer).eval()
                assert torch.equal(cut(**inputs).last_hidden_state, hidden[layer])
            assert torch.equal(whole(**inputs).last_hidden_state, hidden[3]) and len(hidden) == 4
    with pytest.raises(ReprlabError, match="layer 4 is asked for, and it has 3 layers"):
        open_encoder(sources["folders"][0], 4)


def training(**changes) -> CoreferenceTraining:
    head = HeadSettings(
        hidden=8, features=4, max_span_width=3, span_ratio=0.5, max_spans=50, max_antecedents=4, max_segments=2,
        dropout=0.3,
    )  # fmt: skip
    engine = EngineSettings(
        steps=1, batch_size=1, seed=3, schedule=ScheduleSettings(name="linear"),
        optimizer=OptimizerSettings(learning_rate=1e-3, weight_decay=0.01, epsilon=1e-6),
    )  # fmt: skip
    return CoreferenceTraining(
        **{
            "head": head, "aggregation": ATTENTION, "layers": [3, 2], "engine": engine, "head_learning_rate": 1e-2,
            "epochs": 2, "patience": 2, "seeds": [3], **changes,
        }
    )  # fmt: skip


def probe(sources: dict, settings: CoreferenceTraining, states: list[Path] | None = None) -> Probe:
    documents = {"train": sources["documents"], "validation": sources["documents"][:1]}
    count = len(settings.layers)
    return Probe(settings, documents, sources["folders"][:count], states or [], sources["tokenizer"])


def digest(model: torch.nn.Module) -> str:
    found = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        found.update(name.encode() + value.contiguous().numpy().tobytes())
    return found.hexdigest()


def run(one: Probe, work: Path, **changes):
    return one.train(**{"work": work, "save_every": 1, "fingerprint": "x", "device": "cpu", **changes})


def test_frozen_encoders_stay_as_they_were(sources: dict, tmp_path: Path) -> None:
    """Section 5; all that learns is the aggregator and the head, each at its rate."""
    one = probe(sources, training())
    before = [digest(encoder) for encoder in one.model.encoders]
    learnt = digest(one.model)
    outcome = run(one, tmp_path)
    assert [digest(encoder) for encoder in one.model.encoders] == before and digest(one.model) != learnt
    assert sum(value.numel() for value in one.model.encoders.parameters() if value.requires_grad) == 0
    assert outcome.run.step == 6 and list(outcome.scores) == [1, 2]
    assert all(sum(weights) == pytest.approx(1) for weights in outcome.weights.values())


def test_the_head_learns_at_its_own_rate_without_decay_and_warm_up(sources: dict) -> None:
    from reprlab.training.engine import build_optimizer

    settings = training()
    one = probe(sources, settings)
    groups = build_optimizer(one.model, settings.engine.optimizer).param_groups
    about = {(group["factor"], group["warms_up"], group["weight_decay"]) for group in groups}
    assert about == {(10.0, False, 0.0), (1.0, True, 0.01), (1.0, True, 0.0)}
    sizes = {group["factor"]: 0 for group in groups}
    for group in groups:
        sizes[group["factor"]] += sum(value.numel() for value in group["params"])
    assert sizes[10.0] == sum(value.numel() for value in one.model.head.parameters())


def test_dropout_of_frozen_encoders_is_a_switch(sources: dict) -> None:
    for switch in (True, False):
        one = probe(sources, training(encoder_dropout=switch))
        model, batch = one.model.train(), one.tensors("train", 0)
        first, second = (model._encoded(batch) for _ in range(2))
        assert torch.equal(first, second) is not switch


@pytest.mark.parametrize("concatenated", [1, 2])
def test_stored_states_are_those_of_the_encoders(concatenated: int, sources: dict, tmp_path: Path) -> None:
    joined = ATTENTION.model_copy(update={"concatenated": concatenated})
    settings = training(aggregation=joined, encoder_dropout=False)
    states = []
    for folder in sources["folders"]:
        states.append(tmp_path / folder.name)
        states[-1].mkdir()
        split = {"train": sources["documents"], "validation": sources["documents"][:1]}
        write_states(folder, sources["tokenizer"], split, [1, 2, 3], states[-1])
    running, stored = probe(sources, settings), probe(sources, settings, states)
    with torch.no_grad():
        live = running.model.eval()._encoded(running.tensors("train", 2))
    kept = stored.tensors("train", 2)["states"].float()
    assert live.shape == kept.shape == (2, len(sources["documents"][2]), 16 * concatenated)
    torch.testing.assert_close(live, kept, atol=5e-3, rtol=1e-3)
    assert torch.equal(running.model.head.coarse.weight, stored.model.head.coarse.weight)
    with pytest.raises(ReprlabError, match=r"layer-00.npy: cannot be read"):
        StoredStates.open(states, "train", [1, 1], 2, sources["documents"])


def test_hidden_states_leave_the_padding_out(sources: dict) -> None:
    document = sources["documents"][0]
    found = hidden_states(open_encoder(sources["folders"][0]).eval(), sources["tokenizer"], document, [0, 3])
    assert {layer: len(state) for layer, state in found.items()} == {0: len(document), 3: len(document)}


def test_training_goes_on_after_a_kill_to_the_same_bytes(sources: dict, tmp_path: Path) -> None:
    """A process that dies in step 4 leaves a resume point; the next one ends as if nothing had been."""
    whole = probe(sources, training())
    run(whole, tmp_path / "whole")
    broken = probe(sources, training())
    tensors = Probe.tensors

    def dying(self, split: str, number: int, step: int | None = None):
        if step == 4:
            raise KeyboardInterrupt
        return tensors(self, split, number, step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Probe, "tensors", dying)
        with pytest.raises(KeyboardInterrupt):
            run(broken, tmp_path / "broken")
    again = probe(sources, training())
    outcome = run(again, tmp_path / "broken")
    assert digest(again.model) == digest(whole.model) and outcome.scores.keys() == {1, 2}
    first, second = (json.loads((tmp_path / name / "held_out.json").read_text()) for name in ("whole", "broken"))
    assert first == second


def test_the_best_pass_is_kept_and_training_ends_after_patience(sources: dict, tmp_path: Path) -> None:
    one = probe(sources, training(epochs=9, patience=2))
    f1 = iter([10.0, 30.0, 20.0, 30.0, 99.0])
    kept: dict[int, str] = {}

    def evaluate(self, split: str = "validation"):
        kept[len(kept) + 1] = digest(self.model)
        wanted = next(f1) / 100
        return np.array([[[wanted, 1, wanted, 1]] * 3]), [0.5, 0.5]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Probe, "evaluate", evaluate)
        outcome = run(one, tmp_path)
    assert outcome.scores == pytest.approx({1: 10, 2: 30, 3: 20, 4: 30})
    assert digest(one.model) == kept[2] and outcome.run.step == 12


def test_numbers_below_the_normal_range_are_0_while_training_alone() -> None:
    tiny = torch.tensor([1e-40])
    with no_denormals():
        assert float(tiny * 1.0) == 0
    assert float(tiny * 1.0) > 0


def test_an_encoder_that_is_trained_changes(sources: dict, tmp_path: Path) -> None:
    one = probe(sources, training(train_encoder=True, layers=[3], aggregation=MEAN))
    before = digest(one.model.encoders)
    run(one, tmp_path)
    assert digest(one.model.encoders) != before
    with pytest.raises(ValueError, match="train_encoder: one encoder"):
        training(train_encoder=True)


def test_long_documents_are_read_in_windows_while_training(sources: dict) -> None:
    one = probe(sources, training())
    document = sources["documents"][0]
    assert len(document.segments) > 2
    lengths = {len(one.tensors("train", 0, step)["sentence"]) for step in range(12)}
    assert max(lengths) < len(document) and len(one.tensors("train", 0)["sentence"]) == len(document)
    first, second = (one.tensors("train", 0, 5) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_the_loss_is_that_of_one_document(sources: dict) -> None:
    one = probe(sources, training())
    loss, parts = loss_of(one.model, one.tensors("train", 0))
    batch, _ = document_tensors(sources["documents"][0], [])
    assert parts["count"] == 1 and parts["tokens"] == len(batch["sentence"]) and loss.isfinite()
    assert isinstance(one.model, CoreferenceModel)
