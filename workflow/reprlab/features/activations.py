"""Inner states of a gated MLP: what its down projection reads, taken out or put in as the model runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    from torch import Tensor


class _ReadError(Exception):
    """The state is there: what the model would do with it is not wanted."""


def inner_states(model: Any, layer: int, input_ids: Tensor) -> Tensor:
    """SiLU(W_gate x) * (W_up x) of a layer, [B, L, d]; nothing behind it is computed and nothing remembered.

    It is the input of `down_proj` (TransformerLens: `blocks.<layer>.mlp.hook_post`).
    """
    import torch

    found: list[Tensor] = []

    def read(_module: Any, inputs: tuple[Tensor, ...]) -> None:
        found.append(inputs[0].float())
        raise _ReadError

    handle = down_projection(model, layer).register_forward_pre_hook(read)
    try:
        with torch.no_grad(), contextlib.suppress(_ReadError):
            model.base_model(input_ids=input_ids, use_cache=False)
    finally:
        handle.remove()
    return found[0]


@contextlib.contextmanager
def replaced_states(model: Any, layer: int, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within the block the model runs with `change` of the inner states of a layer in their place."""

    def put(_module: Any, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (change(inputs[0]).to(inputs[0].dtype), *inputs[1:])

    handle = down_projection(model, layer).register_forward_pre_hook(put)
    try:
        yield
    finally:
        handle.remove()


def state_width(model: Any, layer: int) -> int:
    """d: the size of an inner state."""
    return int(down_projection(model, layer).in_features)


def down_projection(model: Any, layer: int) -> Any:
    """The module that reads the inner states of a layer.

    Raises:
        ReprlabError: the model has no such layer, or its MLP is not gated.
    """
    layers = getattr(model.base_model, "layers", None)
    if layers is None or not 0 <= layer < len(layers):
        raise ReprlabError(
            f"layer: {type(model).__name__} has {0 if layers is None else len(layers)} layers with a gated MLP, and "
            f"layer {layer} (counted from 0) is wanted"
        )
    found = getattr(getattr(layers[layer], "mlp", None), "down_proj", None)
    if found is None:
        raise ReprlabError(f"layer {layer}: the MLP of {type(model).__name__} is not gated; name another model")
    return found
