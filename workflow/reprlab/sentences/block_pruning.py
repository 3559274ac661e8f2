"""Decoders without the block of layers that changes a text least, repaired or not.

`block_cosine` removes the layers (Gromov et al. 2024); `replace_me` also puts a linear map in their place (ReplaceMe,
Shopkhoev et al. 2025), which goes into the last matrix of the MLP in front of the cut, so that a model of fewer layers
is all that is left.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.early_exit import headless, keep_layers, layers_of
from reprlab.sentences.texts import EncodedTexts

if TYPE_CHECKING:
    import torch

# Where a layer keeps the last matrix of its MLP, by the `model_type` of the configuration.
_PLACES = {"opt": "fc2", "gpt2": "mlp.c_proj"}
_USUAL = "mlp.down_proj"


class PruningSettings(BaseModel):
    """Which layers are removed, and whether something stands in for them."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    method: Literal["block_cosine", "replace_me"]
    """Without repair, or with it."""
    layers: int | Literal["small", "large"]
    """Layers that are kept: a number, or one of the two that the untrained losses choose."""
    texts: int = Field(ge=1)
    """Texts that choose the block and fit the map, drawn without replacement; of fewer all."""
    alpha: float = Field(default=0.0, ge=0)
    """a of `replace_me`, which alone reads it: what is added to the diagonal of the tokens' second moments."""
    first_tokens: bool = True
    """Whether `replace_me`, which alone reads it, fits the map on the first token of each text as well. Its state may
    be a hundred times as large as others (an attention sink), and is then all that the squares see."""
    seed: int = Field(ge=0)
    """Seed of the draw."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward pass; distances and sums over tokens are in float64."""


@dataclass(frozen=True)
class Removed:
    """A block that was removed."""

    first: int
    """Layers in front of it."""
    distances: np.ndarray
    """[starts] mean cosine distance from input to output of the block behind 1, 2, ... layers."""


def prune_block(model: Any, texts: EncodedTexts, settings: PruningSettings, kept: int, batch_size: int) -> Removed:
    """Remove the block that leaves a decoder `kept` layers, in place. The first layer always stays.

    Args:
        texts: those that choose the block and fit the map.
        batch_size: texts in a forward pass; it does not change the result.

    Raises:
        ReprlabError: there are fewer layers, they cannot be cut or repaired, or a state is not finite.
    """
    layers, _ = layers_of(model)
    if not 1 <= kept <= len(layers):
        raise ReprlabError(f"{type(model).__name__} has {len(layers)} layers: keep from 1 to {len(layers)}, not {kept}")
    count = len(layers) - kept
    distances = block_distances(model, texts, count, batch_size, settings.dtype)
    first = 1 + int(np.argmin(distances))
    if settings.method == "replace_me":
        gram, cross = token_sums(
            model, texts, first, count, batch_size, settings.dtype, first_tokens=settings.first_tokens
        )
        fold_in(last_matrix(model, first - 1), repairing_map(gram, cross, settings.alpha))
    remove_layers(model, first, count)
    return Removed(first, distances)


def drawn_texts(texts: EncodedTexts, count: int, seed: int) -> EncodedTexts:
    """Some of the texts, none twice, in their order."""
    rng = np.random.Generator(np.random.Philox(key=seed))
    return texts.chosen(np.sort(rng.choice(len(texts), min(count, len(texts)), replace=False)))


def block_distances(model: Any, texts: EncodedTexts, count: int, batch_size: int, dtype: str = "float32") -> np.ndarray:
    """[starts] 1 - cosine of the last token's states in front of and behind `count` layers, mean over texts, for the
    blocks that begin behind 1, 2, ... layers."""
    import torch

    total: Any = 0
    for _, states, _ in _passes(model, texts, batch_size, dtype):
        last = torch.stack(states).double()
        before, behind = last[1 : len(last) - count], last[1 + count :]
        total = total + (1 - torch.cosine_similarity(before, behind, dim=-1)).sum(1)
    found: np.ndarray = (total / len(texts)).cpu().numpy()
    if not np.isfinite(found).all():
        raise ReprlabError("a state of the texts that choose the block is not finite; use dtype float32")
    return found


def token_sums(
    model: Any,
    texts: EncodedTexts,
    first: int,
    count: int,
    batch_size: int,
    dtype: str = "float32",
    *,
    first_tokens: bool = True,
) -> tuple[torch.Tensor, torch.Tensor]:
    """M'M and M'(Y - L) over all tokens, or all but the first of each text, [d, d] float64: M is what the MLP in front
    of the block adds, L the state in front of the block, and Y the one behind it."""
    gram: Any = 0
    cross: Any = 0
    places = (first, first + count)
    for attention, (before, behind), added in _passes(
        model, texts, batch_size, dtype, places=places, watched=first - 1
    ):
        real = attention.bool()
        if not first_tokens:
            real &= attention.cumsum(1) > 1
        mlp = added[real].double()
        gram = gram + mlp.T @ mlp
        cross = cross + mlp.T @ (behind[real].double() - before[real].double())
    return gram, cross


def repairing_map(gram: torch.Tensor, cross: torch.Tensor, alpha: float) -> torch.Tensor:
    """T = (M'M + a I)^-1 M'(Y + M - L), [d, d] float64, after which M T is nearest to what MLP and block add together.

    It is written as I + (M'M + a I)^-1 (M'(Y - L) - a I): a block that adds nothing leaves the identity bit for bit,
    and a direction that no token has stays as it is.
    """
    import torch

    size = len(gram)
    variances, directions = torch.linalg.eigh(gram)
    moments = variances + alpha
    known = moments > moments[-1] * size * torch.finfo(moments.dtype).eps
    scales = torch.where(known, 1 / torch.where(known, moments, 1), 0)
    one = torch.eye(size, dtype=gram.dtype, device=gram.device)
    return one + (directions * scales) @ (directions.T @ (cross - alpha * one))


def last_matrix(model: Any, layer: int) -> Any:
    """The module of a layer's MLP whose output is added to the state.

    Raises:
        ReprlabError: the architecture keeps it elsewhere.
    """
    from operator import attrgetter

    try:
        return attrgetter(_PLACES.get(model.config.model_type, _USUAL))(layers_of(model)[0][layer])
    except AttributeError as error:
        raise ReprlabError(f"{type(model).__name__}: its MLP cannot take a map ({error})") from None


def fold_in(module: Any, matrix: torch.Tensor) -> None:
    """Let a linear layer, or GPT-2's transposed one, give x T in place of x, in place; its bias as well."""
    import torch

    with torch.no_grad():
        weight, turned = module.weight, matrix.to(module.weight.device)
        # A linear layer has a row for each output, GPT-2's a column.
        by_row = isinstance(module, torch.nn.Linear)
        weight.copy_(turned.T @ weight.double() if by_row else weight.double() @ turned)
        if module.bias is not None:
            module.bias.copy_(module.bias.double() @ turned)


def remove_layers(model: Any, first: int, count: int) -> None:
    """Remove the `count` layers behind the first `first` ones, in place."""
    layers, _ = layers_of(model)
    own = list(layers)
    kinds = getattr(model.config, "layer_types", None)
    # Those that go are put last, where a decoder is cut.
    order = [*range(first), *range(first + count, len(own)), *range(first, first + count)]
    for place, layer in enumerate(order):
        layers[place] = own[layer]
    if kinds:
        model.config.layer_types = [kinds[layer] for layer in order]
    keep_layers(model, len(own) - count)


def _passes(
    model: Any,
    texts: EncodedTexts,
    batch_size: int,
    dtype: str,
    *,
    places: Iterable[int] | None = None,
    watched: int | None = None,
) -> Iterator[tuple[torch.Tensor, list[torch.Tensor], Any]]:
    """Of each batch the mask [B, L], the states in front of some layers, of which the one behind the last layer is in
    front of the final norm, and what the MLP of the layer `watched` adds [B, L, d].

    Args:
        places: layers, by how many are in front, in order; their states are [B, L, d]. None: all layers, and states
            [B, d] of the last token alone.
    """
    import torch

    from reprlab.inference.generation import sorted_batches
    from reprlab.objectives.decoder_attention import attention_inputs

    layers, norm = layers_of(model)
    modules = [*layers, norm]
    states: list[torch.Tensor] = []
    added: list[torch.Tensor] = []

    def before(_: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        state = given[0] if given else named["hidden_states"]
        # Padding is on the left.
        states.append(state[:, -1] if places is None else state)

    def behind(_: Any, given: Any, output: torch.Tensor) -> None:
        added.append(output)

    device = next(model.parameters()).device
    model.eval()
    read = range(len(modules)) if places is None else places
    hooks = [modules[place].register_forward_pre_hook(before, with_kwargs=True) for place in read]
    if watched is not None:
        hooks.append(last_matrix(model, watched).register_forward_hook(behind))
    try:
        for rows in sorted_batches(texts.ids.lengths, batch_size):
            batch = {name: value.to(device) for name, value in texts.batch(rows).items()}
            inputs = attention_inputs(batch["attention_mask"], model.dtype, bidirectional=False)
            states.clear()
            added.clear()
            precision = (
                torch.autocast(device.type, dtype=torch.bfloat16) if dtype == "bfloat16" else contextlib.nullcontext()
            )
            with torch.no_grad(), precision:
                headless(model)(input_ids=batch["input_ids"], use_cache=False, **inputs)
            mask = batch["attention_mask"]
            # OPT's has the tokens of all texts in a row.
            yield mask, states, added[0].reshape(*mask.shape, -1) if added else None
    finally:
        for hook in hooks:
            hook.remove()
