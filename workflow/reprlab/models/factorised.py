"""Permanent factorisation of an input embedding (Liu et al. 2024, OFA): E [V, d] becomes U B, U [V, r] and B [r, d].

B are the r directions of E with the largest singular values, orthonormal, and U = E B'; so the product is the best
approximation of rank r, and at r = d it is E up to rounding. Both are trained. V r + r d numbers stand for V d.
"""

from __future__ import annotations

from typing import Any

import torch

from reprlab.models.pema import refuse_shared
from reprlab.runtime.errors import ReprlabError

_ROWS = 65536
"""Rows that are in memory in float64 at a time."""


class FactorisedEmbedding(torch.nn.Module):
    """The input embedding whose matrix is a product of two."""

    def __init__(self, whole: torch.nn.Embedding, rank: int) -> None:
        super().__init__()
        parts = whole.weight.detach().split(_ROWS)
        # Eigenvectors of E'E [d, d], in float64: a singular value decomposition of E would hold several copies of it.
        moments = torch.stack([part.double().T @ part.double() for part in parts]).sum(dim=0)
        basis = torch.linalg.eigh(moments).eigenvectors[:, -rank:].flip(1)
        codes = torch.cat([(part.double() @ basis).to(part.dtype) for part in parts])
        self.codes = _embedding(codes, whole.padding_idx)
        self.basis = torch.nn.Parameter(basis.T.to(codes.dtype).contiguous())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Rows of the product, `[..., d]` for ids `[...]`."""
        return self.codes(ids) @ self.basis

    def product(self) -> torch.nn.Embedding:
        """The embedding with the product as its matrix [V, d]."""
        return _embedding(self.codes.weight.detach() @ self.basis.detach(), self.codes.padding_idx)


def _embedding(matrix: torch.Tensor, padding: int | None) -> torch.nn.Embedding:
    rows, width = matrix.shape
    return torch.nn.Embedding(rows, width, padding_idx=padding, _weight=matrix)


def factorise_embedding(model: Any, rank: int) -> None:
    """Put the product of rank `rank` in the place of a transformers model's input embedding, in place.

    Call it before the optimizer is built and before the model is wrapped or compiled.

    Raises:
        ReprlabError: the matrix is not as wide, or another layer has it too.
    """
    embedding = model.get_input_embeddings()
    refuse_shared(model, embedding.weight)
    width = embedding.weight.shape[1]
    if rank > width:
        raise ReprlabError(f"factorised embedding: rank {rank} is above the {width} columns of the matrix")
    model.set_input_embeddings(FactorisedEmbedding(embedding, rank))


def multiply_embedding(model: Any) -> None:
    """Put the matrix of the product back, so that the model is one that transformers opens."""
    model.set_input_embeddings(model.get_input_embeddings().product())
