"""Aggregation: the states of several frozen encoders become one vector for each token."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from reprlab.coreference.settings import AggregationSettings


class Aggregator(nn.Module):
    """One vector a token from n sources, and the weight of each source.

    Factored attention is what the authors ran: q is the bias of a linear layer applied to a zero vector, so one learned
    vector for all tokens; k_i and v_i are linear in the state of source i, and the weights are softmax_i(q k_i /
    sqrt(width)). With one source it is a linear layer. `paper` is the printed formula: softmax_i(w h_i) over the states
    themselves (section 3 of the paper).
    """

    def __init__(self, sources: int, width: int, settings: AggregationSettings) -> None:
        super().__init__()
        self.settings = settings
        inputs = width * settings.concatenated
        if settings.aggregation == "attention" and settings.attention == "factored":
            self.query = nn.Linear(inputs, settings.width)
            self.keys = nn.ModuleList(nn.Linear(inputs, settings.width) for _ in range(sources))
            self.values = nn.ModuleList(nn.Linear(inputs, width) for _ in range(sources))
        elif settings.aggregation == "attention":
            self.score = nn.Linear(width, 1)

    def forward(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Vectors [T, H] and weights [n, T] of states [n, T, H * concatenated]."""
        if self.settings.normalise:
            states = nn.functional.normalize(states, dim=-1)
        if self.settings.aggregation != "attention":
            even = states.new_full(states.shape[:2], 1 / len(states))
            return (states.mean(0) if self.settings.aggregation == "mean" else states.sum(0)), even
        if self.settings.attention == "paper":
            weights = self.score(states)[..., 0].softmax(0)
            return (weights[..., None] * states).sum(0), weights
        query = self.query(states.new_zeros(states.shape[-1]))
        keys = torch.stack([key(one) for key, one in zip(self.keys, states, strict=True)])
        values = torch.stack([value(one) for value, one in zip(self.values, states, strict=True)])
        weights = (keys @ query / math.sqrt(self.settings.width)).softmax(0)
        return (weights[..., None] * values).sum(0), weights


def read_layers(hidden: Sequence[torch.Tensor], layer: int, concatenated: int) -> torch.Tensor:
    """[..., H * concatenated] the output of `layer`, joined behind those of the layers below it.

    Args:
        hidden: outputs by layer; 0 is the embedding layer, which is not joined.
    """
    return torch.cat([hidden[number] for number in range(layer - concatenated + 1, layer + 1)], -1)
