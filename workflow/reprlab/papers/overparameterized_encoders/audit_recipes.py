"""Recipes of pruning and of reading a layer, measured on tiny random decoders of the published architectures."""

from __future__ import annotations

import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from reprlab.reporting.audit import Found, found
from reprlab.reporting.audit_given import Given

if TYPE_CHECKING:
    import torch

_TINY = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 32, "pad_token_id": 0, "eos_token_id": 1,
}  # fmt: skip
_KEPT = 2


def _network(given: Given, model: str) -> Any:
    from reprlab.models.build import build_from_config

    entry = given.entry(model)
    return build_from_config(entry.model_copy(update={"config": {**entry.config, **_TINY}}), 64, 0).eval()


def _output(network: Any) -> torch.Tensor:
    import torch

    from reprlab.sentences.early_exit import headless

    with torch.inference_mode():
        return headless(network)(input_ids=_ids(), use_cache=False).last_hidden_state


def _ids() -> torch.Tensor:
    import torch

    return torch.arange(2, 18).reshape(2, 8)


def _pruned(network: Any, kept: int) -> Any:
    from reprlab.sentences.early_exit import keep_layers

    cut = copy.deepcopy(network)
    keep_layers(cut, kept)
    return cut


def _largest(pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> float:
    return max(float((one - other).abs().max()) for one, other in pairs)


def _states(network: Any) -> tuple[list[torch.Tensor], Any]:
    """States behind each layer as transformers gives them (the last one normed), and the norm."""
    import torch

    from reprlab.sentences.early_exit import headless, layers_of

    with torch.inference_mode():
        states = headless(network)(input_ids=_ids(), use_cache=False, output_hidden_states=True).hidden_states
    return list(states[1:]), layers_of(network)[1]


def early_exit(given: Given, *, model: str) -> float:
    """5.4: largest difference between a layer's normed output and the model that is cut there."""
    import torch

    from reprlab.sentences.early_exit import layer_outputs

    network = _network(given, model)
    with torch.inference_mode():
        outputs = layer_outputs(network, input_ids=_ids())
    return _largest([(one, _output(_pruned(network, kept))) for kept, one in enumerate(outputs, start=1)])


def without_norm(given: Given, *, model: str) -> float:
    """8.4: the same where layers below the last are taken as transformers gives them."""
    network = _network(given, model)
    states, _ = _states(network)
    return _largest([(one, _output(_pruned(network, kept))) for kept, one in enumerate(states[:-1], start=1)])


def double_norm(given: Given, *, model: str) -> float:
    """8.4: the last layer normed once more, against the whole model."""
    import torch

    network = _network(given, model)
    states, norm = _states(network)
    # A trained norm weighs its features: with ones alone a second norm would change next to nothing.
    with torch.no_grad():
        norm.weight.copy_(torch.linspace(0.5, 1.5, len(norm.weight)))
    states, _ = _states(network)
    with torch.inference_mode():
        return _largest([(norm(states[-1]), _output(network))])


def reopened(given: Given, *, model: str) -> float:
    """5.5: largest difference between a pruned model and itself, saved and opened again."""
    cut = _pruned(_network(given, model), _KEPT)
    return _largest([(_output(cut), _output(_saved(cut)))])


def three_lines(given: Given, *, model: str) -> Found:
    """The layers cut and their number set, and nothing else: whether that can be saved and opened again."""
    from huggingface_hub.errors import StrictDataclassError

    from reprlab.sentences.early_exit import headless, layers_of

    network = _network(given, model)
    headless(network).layers = layers_of(network)[0][:_KEPT]
    network.config.num_hidden_layers = _KEPT
    try:
        _saved(network)
    except StrictDataclassError as error:
        return found("refused", False, reason=str(error.__cause__ or error))
    return found("opens", True, reason="it has one kind of layer")


def untouched_layers(given: Given, *, model: str) -> Found:
    """The number of layers set in the configuration alone: layers that stay in memory, and whether outputs agree."""
    from reprlab.sentences.early_exit import layers_of

    network = _network(given, model)
    expected = _output(_pruned(network, _KEPT))
    network.config.num_hidden_layers = _KEPT
    same = bool((_output(network) == expected).all())
    return found(len(layers_of(network)[0]), outputs="the same" if same else "other")


def _saved(network: Any) -> Any:
    from reprlab.models.build import load_model, save_model

    with TemporaryDirectory() as folder:
        save_model(network, Path(folder))
        return load_model(Path(folder)).eval()
