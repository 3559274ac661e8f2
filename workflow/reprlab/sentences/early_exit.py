"""Decoders cut after some of their layers, and what each layer gives as the last one (L3Prune, section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import torch

# Where a decoder keeps its layers and the norm behind them, by the `model_type` of its configuration.
_PLACES = {"opt": ("decoder.layers", "decoder.final_layer_norm"), "gpt2": ("h", "ln_f")}
_USUAL = ("layers", "norm")


def headless(model: Any) -> Any:
    """The decoder without its output layer."""
    return model.base_model


def layers_of(model: Any) -> tuple[Any, Any]:
    """The layers of a decoder (a ModuleList), and the norm behind the last one.

    Raises:
        ReprlabError: the architecture keeps them elsewhere, or has no such norm.
    """
    from operator import attrgetter

    decoder = headless(model)
    try:
        layers, norm = (attrgetter(place)(decoder) for place in _PLACES.get(model.config.model_type, _USUAL))
    except AttributeError as error:
        raise ReprlabError(f"{type(model).__name__}: its layers cannot be cut ({error})") from None
    if norm is None:
        raise ReprlabError(
            f"{type(model).__name__}: there is no norm behind its last layer, so that no other can be the last"
        )
    return layers, norm


def keep_layers(model: Any, kept: int) -> None:
    """Cut a decoder to its first `kept` layers, in place; embeddings and the final norm stay.

    Raises:
        ReprlabError: it has fewer.
    """
    from operator import attrgetter

    layers, _ = layers_of(model)
    if not 1 <= kept <= len(layers):
        raise ReprlabError(f"{type(model).__name__} has {len(layers)} layers: keep from 1 to {len(layers)}, not {kept}")
    place = _PLACES.get(model.config.model_type, _USUAL)[0]
    parent, _, name = place.rpartition(".")
    owner = attrgetter(parent)(headless(model)) if parent else headless(model)
    setattr(owner, name, layers[:kept])
    model.config.num_hidden_layers = kept
    if getattr(model.config, "layer_types", None):
        # One entry a layer: without this cut, what is saved cannot be opened again.
        model.config.layer_types = model.config.layer_types[:kept]


def layer_outputs(model: Any, **inputs: torch.Tensor) -> list[torch.Tensor]:
    """[n] states [B, L, d]: those of the model cut to 1, 2, ..., n layers, bit by bit, from one pass.

    transformers gives the states behind each layer without the final norm, but for the last, which has it.
    """
    _, norm = layers_of(model)
    *between, last = headless(model)(**inputs, output_hidden_states=True, use_cache=False).hidden_states
    return [*(norm(states) for states in between[1:]), last]


def mean_of_ends(model: Any, **inputs: torch.Tensor) -> torch.Tensor:
    """[B, L, d] float32: the mean of the states of the model cut to its first layer and of those of its last one; where
    there is one layer, its states bit by bit."""
    _, norm = layers_of(model)
    _, first, *others = headless(model)(**inputs, output_hidden_states=True, use_cache=False).hidden_states
    return (norm(first).float() + others[-1].float()) / 2 if others else first.float()
