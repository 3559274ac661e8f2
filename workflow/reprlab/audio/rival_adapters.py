"""Adapters of others beside those of Samin et al. (2025): Compacter and the parallel adapter."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from reprlab.runtime.errors import ReprlabError


class KroneckerLinear(nn.Module):
    """x W + b with W = sum over i of A_i ⊗ (S_i T_i), [inputs, outputs] (Karimi Mahabadi et al. 2021, section 3).

    A_i [terms, terms] is shared by all layers that are given the same `shared`; S_i [inputs / terms, rank] and
    T_i [rank, outputs / terms] are the layer's own; a rank of None is the largest. W is never written out.

    Raises:
        ReprlabError: a width is not a multiple of the terms, or the rank is above a part of it.
    """

    def __init__(self, inputs: int, outputs: int, rank: int | None, shared: nn.Parameter) -> None:
        super().__init__()
        terms = len(shared)
        if inputs % terms or outputs % terms:
            raise ReprlabError(f"tuning.terms: {terms} do not divide the widths {inputs} and {outputs} of an adapter")
        most = min(inputs, outputs) // terms
        if rank is None:
            rank = most
        if rank > most:
            raise ReprlabError(f"tuning.rank: {rank} is above {most}, the width of an adapter over tuning.terms")
        self.shared = shared
        self.left = nn.Parameter(torch.empty(terms, inputs // terms, rank))
        self.right = nn.Parameter(torch.empty(terms, rank, outputs // terms))
        self.bias = nn.Parameter(torch.zeros(outputs))
        for one in (self.left, self.right):
            nn.init.xavier_uniform_(one)

    def weight(self) -> torch.Tensor:
        """W, [inputs, outputs], written out."""
        inner = self.left @ self.right
        return sum(torch.kron(*pair) for pair in zip(self.shared, inner, strict=True))  # type: ignore[return-value]

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """See the class."""
        terms, wide = len(self.shared), self.left.shape[1]
        parts = states.unflatten(-1, (terms, wide))
        # Rows of A ⊗ B are numbered by a row of A first, and so are its columns.
        found = torch.einsum("...pa,iar,irb,ipq->...qb", parts, self.left, self.right, self.shared)
        return found.flatten(-2) + self.bias


class Compacter(nn.Module):
    """x + up(gelu(down(x))) of states [B, T, m], both maps sums of Kronecker products."""

    def __init__(self, width: int, inner: int, rank: int | None, shared: nn.Parameter) -> None:
        super().__init__()
        self.down = KroneckerLinear(width, inner, rank, shared)
        self.up = KroneckerLinear(inner, width, rank, shared)

    @property
    def last(self) -> nn.Module:
        """The layer whose output is added; what all share is not its own to scale."""
        return _Own(self.up)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """See the class."""
        found: torch.Tensor = states + self.up(nn.functional.gelu(self.down(states)))
        return found


class _Own(nn.Module):
    """What of a layer scales its output once: one of the factors, and the bias."""

    def __init__(self, layer: KroneckerLinear) -> None:
        super().__init__()
        self.right, self.bias = layer.right, layer.bias


class ParallelAdapter(nn.Module):
    """scale * up(relu(down(x))) of what a sub-layer reads, [B, T, m] (He et al. 2022, table 1)."""

    def __init__(self, width: int, inner: int, scale: float) -> None:
        super().__init__()
        self.down, self.up, self.scale = nn.Linear(width, inner), nn.Linear(inner, width), scale

    @property
    def last(self) -> nn.Module:
        """The layer whose output is added."""
        return self.up

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """See the class."""
        found: torch.Tensor = self.scale * self.up(self.down(states).relu())
        return found


class Beside(nn.Module):
    """A sub-layer with an adapter beside it, which reads what the norm in front of the sub-layer gives."""

    def __init__(self, sublayer: nn.Module, adapter: nn.Module, norm: nn.Module) -> None:
        super().__init__()
        self.sublayer, self.adapter = sublayer, adapter
        self._read: list[torch.Tensor] = []
        norm.register_forward_hook(self._keep)

    def _keep(self, _: nn.Module, __: tuple[torch.Tensor, ...], read: torch.Tensor) -> None:
        self._read[:] = [read]

    def forward(self, *args: Any, **named: Any) -> Any:
        """The sub-layer's output and the adapter's; of a tuple the first is added to."""
        found, more = self.sublayer(*args, **named), self.adapter(self._read.pop())
        return (found[0] + more, *found[1:]) if isinstance(found, tuple) else found + more
