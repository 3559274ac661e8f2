"""Quality of a sparse autoencoder on held-out text: loss recovered, L0, explained variance, density of its features."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.features.activations import inner_states, replaced_states

if TYPE_CHECKING:
    import numpy as np
    import torch
    from torch import Tensor

# A feature whose share of tokens lies below is dead.
DEAD = 1e-10
# Shares of tokens below which the paper's code counts features.
RARE = {"below_one_in_1000000": 1e-6, "below_one_in_100000": 1e-5, "below_one_in_100": 1e-2}


@dataclass(frozen=True)
class Quality:
    """What an autoencoder does to a model.

    `batches` has one row a batch: `batch`, `tokens`, and sums over it: `clean`, `zeroed`, `meaned` and
    `reconstructed`, the loss in nats with the inner states as they are, nought, their mean, and reconstructed, over
    `count` predicted tokens; `fired` features; `error` and `variance`, squared distances to the reconstruction and to
    the mean state of all batches.
    """

    batches: list[dict[str, float]]
    fired: np.ndarray
    """[K] tokens on which each feature fires."""
    tokens: int

    def recovered(self, changed: str = "reconstructed") -> float:
        """(L_zero - L_changed) / (L_zero - L_clean): 1 where nothing is lost; that of the mean is trivial."""
        clean, zeroed, found = (self.total(name) for name in ("clean", "zeroed", changed))
        return (zeroed - found) / (zeroed - clean) if zeroed != clean else float("nan")

    def total(self, name: str) -> float:
        """A sum over all batches."""
        return float(sum(row[name] for row in self.batches))

    def density(self) -> np.ndarray:
        """[K] share of tokens on which each feature fires."""
        return self.fired / self.tokens

    def values(self) -> dict[str, float]:
        """The row of a quality table; shares in percent."""
        density, tokens = self.density(), self.tokens
        rare = {name: 100 * float((density < limit).mean()) for name, limit in RARE.items()}
        return {
            "loss_recovered": 100 * self.recovered(),
            "mean_recovered": 100 * self.recovered("meaned"),
            "clean_loss": self.total("clean") / self.total("count"),
            "zeroed_loss": self.total("zeroed") / self.total("count"),
            "reconstructed_loss": self.total("reconstructed") / self.total("count"),
            "explained_variance": 100 * (1 - self.total("error") / self.total("variance")),
            "l0": self.total("fired") / tokens,
            "dead_share": 100 * float((density < DEAD).mean()),
            **rare,
        }


def measure_quality(
    model: Any,
    layer: int,
    batches: list[Tensor],
    encode: Callable[[Tensor], Tensor],
    decode: Callable[[Tensor], Tensor],
) -> Quality:
    """Run the model on each batch of blocks as it is, with nought, with the mean state, with what is reconstructed.

    Args:
        model: the language model, on its device.
        layer: whose inner states are coded.
        batches: int64 [B, L] each.
        encode: [n, d] states to [n, K] features.
        decode: back.
    """
    import torch

    model.eval()
    device = next(model.parameters()).device
    rows, fired, tokens = [], torch.zeros(()), 0
    mean = mean_state(model, layer, batches)
    with torch.inference_mode():
        for number, ids in enumerate(batches):
            placed = ids.to(device)
            states = inner_states(model, layer, placed)
            flat = states.flatten(0, 1)
            features = encode(flat)
            found = decode(features)
            coded = found.view_as(states)
            on = features > 0
            fired = fired + on.sum(0).double().cpu()
            tokens += len(flat)
            row = {
                "batch": number,
                "tokens": len(flat),
                "count": ids[:, 1:].numel(),
                "clean": _loss(model, placed),
                "zeroed": _loss(model, placed, layer, torch.zeros_like),
                "meaned": _loss(model, placed, layer, mean.expand_as),
                "reconstructed": _loss(model, placed, layer, lambda _state, coded=coded: coded),  # type: ignore[misc]
                "fired": float(on.sum()),
                "error": float((flat - found).square().sum()),
                "variance": float((flat - mean).square().sum()),
            }
            rows.append(row)
    return Quality(rows, fired.numpy(), tokens)


def mean_state(model: Any, layer: int, batches: list[Tensor]) -> Tensor:
    """[d] float32 mean of the inner states of all tokens, for which each batch runs up to that layer alone.

    The mean of a batch in its place would make explained variance, and the loss with the mean state, depend on how many
    blocks are read at once.
    """
    import torch

    device = next(model.parameters()).device
    total = torch.zeros((), dtype=torch.float64, device=device)
    for ids in batches:
        total = total + inner_states(model, layer, ids.to(device)).flatten(0, 1).double().sum(0)
    return (total / max(1, sum(ids.numel() for ids in batches))).float()


def _loss(
    model: Any, ids: torch.Tensor, layer: int = 0, change: Callable[[torch.Tensor], torch.Tensor] | None = None
) -> float:
    from reprlab.objectives.causal_lm import causal_loss

    with _changed(model, layer, change):
        _, parts = causal_loss(model, ids, ids)
    return float(parts["loss_sum"])


def _changed(
    model: Any, layer: int, change: Callable[[torch.Tensor], torch.Tensor] | None
) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext() if change is None else replaced_states(model, layer, change)
