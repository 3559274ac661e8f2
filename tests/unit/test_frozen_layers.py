"""What is kept stays as it was and is the same function of a text at each step; the rest learns."""

from pathlib import Path
from typing import Any

import pytest
import torch
from finetune_fixtures import make_t5, make_tokenizer
from reprlab.events.classification import open_classifier
from reprlab.events.settings import PairClassification
from reprlab.models.frozen_layers import freeze_lowest
from reprlab.runtime.errors import ReprlabError
from reprlab.training.settings import EngineSettings, OptimizerSettings

SIZES = {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
IDS = torch.arange(5, 29).view(2, 12)


def encoder(kind: str) -> Any:
    """Three layers with dropout, of one of BERT's families."""
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SIZES, max_position_embeddings=64, hidden_dropout_prob=0.3)
    config.attention_probs_dropout_prob = 0.3
    return getattr(transformers, f"{kind}Model")(config).train()


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "Electra", "MPNet"])
@pytest.mark.parametrize("kept", [1, 2])
def test_the_lowest_layers_and_the_embeddings_stay(kind: str, kept: int) -> None:
    model = encoder(kind)
    freeze_lowest(model, kept)
    before = {name: value.clone() for name, value in model.named_parameters()}
    model(input_ids=IDS).last_hidden_state.square().sum().backward()
    torch.optim.SGD([one for one in model.parameters() if one.requires_grad], lr=0.1).step()
    moved = {name for name, value in model.named_parameters() if not torch.equal(value, before[name])}
    layers = {f"encoder.layer.{number}." for number in range(kept, 3)}
    assert all(name.startswith(tuple(layers)) for name in moved)
    assert {layer for layer in layers if any(name.startswith(layer) for name in moved)} == layers


@pytest.mark.parametrize("kind", ["Bert", "MPNet"])
def test_what_is_kept_draws_no_dropout_and_what_is_trained_does(kind: str) -> None:
    model = encoder(kind)
    freeze_lowest(model, 2)
    first, second = (model(input_ids=IDS, output_hidden_states=True).hidden_states for _ in range(2))
    assert torch.equal(first[2], second[2])
    assert not torch.equal(first[3], second[3])


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "Electra", "MPNet"])
def test_what_is_remembered_is_what_would_be_computed(kind: str) -> None:
    """States and gradients bit by bit, of inputs that come again and of others, with and without padding."""
    found = []
    for recurring in (False, True):
        model = encoder(kind)
        freeze_lowest(model, 2, recurring=recurring)
        layer, runs = model.encoder.layer[0].attention, []
        layer.register_forward_hook(lambda *_, runs=runs: runs.append(1))
        names = list(model.state_dict())
        values: list[torch.Tensor] = []
        for number, (ids, seen) in enumerate([(IDS, 12), (IDS, 12), (IDS.flip(0), 12), (IDS, 7), (IDS, 7), (IDS, 12)]):
            torch.manual_seed(number)
            mask = (torch.arange(12) < torch.tensor([[12], [seen]])).long()
            states = model(input_ids=ids, attention_mask=mask).last_hidden_state
            states.square().sum().backward()
            values += [states.detach(), *(one.grad.clone() for one in model.parameters() if one.grad is not None)]
            model.zero_grad()
        found.append(values)
        assert len(runs) == (3 if recurring and kind != "MPNet" else 6)
        with torch.inference_mode():
            model.eval()(input_ids=IDS)
        assert list(model.state_dict()) == names
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_none_kept_trains_everything() -> None:
    model = encoder("Bert")
    freeze_lowest(model, 0)
    assert all(one.requires_grad for one in model.parameters())
    assert any(isinstance(one, torch.nn.Dropout) and one.p == 0.3 for one in model.modules())


def test_a_model_of_other_modules_and_too_many_layers_are_refused() -> None:
    from rerank_fixtures import tiny

    with pytest.raises(ReprlabError, match="frozen_layers: OPTForCausalLM does not keep its layers as BERT does"):
        freeze_lowest(tiny("opt"), 1)
    with pytest.raises(ReprlabError, match="frozen_layers: 3, but BertModel has 3"):
        freeze_lowest(encoder("Bert"), 3)


def test_a_generative_classifier_is_trained_whole(tmp_path: Path) -> None:
    make_t5(tmp_path, make_tokenizer(tmp_path))
    engine = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-2))
    given = {"events": {}, "labels": ["CAUSE"], "engine": engine, "epochs": 1, "kind": "generative"}
    open_classifier(tmp_path, PairClassification.model_validate(given))
    with pytest.raises(ReprlabError, match="frozen_layers: T5ForConditionalGeneration does not keep its layers"):
        open_classifier(tmp_path, PairClassification.model_validate({**given, "frozen_layers": 2}))
