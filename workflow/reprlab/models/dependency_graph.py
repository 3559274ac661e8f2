"""A graph convolution over dependency trees on top of an encoder (Nguyen and Grishman 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.models.span_pairs import pool_spans

if TYPE_CHECKING:
    import torch


def dependency_layer(width: int) -> torch.nn.Module:
    """One convolution: ReLU of the mean of W h over a word itself, its head and its dependents, each W its own.

    Its forward takes words [W, d] and arcs [2, A] (rows of dependents, rows of their heads) and gives [W, d]. The mean
    in place of the sum keeps words with many dependents from having long vectors (Zhang, Qi and Manning 2018), which a
    dot product would reward. Weights are drawn by Glorot's rule, offsets are 0.
    """
    import torch

    class DependencyLayer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.itself, self.head, self.dependents = (torch.nn.Linear(width, width) for _ in range(3))
            for part in (self.itself, self.head, self.dependents):
                torch.nn.init.xavier_uniform_(part.weight)
                torch.nn.init.zeros_(part.bias)

        def forward(self, words: torch.Tensor, arcs: torch.Tensor) -> torch.Tensor:
            dependents, heads = arcs
            sums = self.itself(words).float()
            sums = sums.index_add(0, dependents, self.head(words).float()[heads])
            sums = sums.index_add(0, heads, self.dependents(words).float()[dependents])
            degrees = 1 + torch.bincount(arcs.flatten(), minlength=len(words))
            return torch.relu(sums / degrees.unsqueeze(1))

    return DependencyLayer()


def graph_encoder(encoder: Any, rate_factor: float = 1.0) -> Any:
    """An encoder with a layer over dependency trees, which learns at `rate_factor` times the encoder's rate.

    Its forward takes `input_ids` and `attention_mask` [B, L], `word_place` and `word_owner` [p] (place b * L + l of
    each piece and its word), `word_count` [], `arcs` [2, A], `trigger_word` and `trigger_owner` [t] (words of each
    trigger and its row), and gives float32 vectors [B, d]: a word is the mean of its pieces, a trigger of its words.
    """
    import torch

    class GraphEncoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder
            self.layer = dependency_layer(encoder.config.hidden_size)
            for parameter in self.layer.parameters():
                parameter.rate_factor = rate_factor  # type: ignore[attr-defined]

        def forward(self, batch: dict[str, Any]) -> torch.Tensor:
            ids = batch["input_ids"]
            states = self.encoder(input_ids=ids, attention_mask=batch["attention_mask"]).last_hidden_state
            count = int(batch["word_count"])
            words = pool_spans(states.float().flatten(0, 1), batch["word_place"], batch["word_owner"], count)
            return pool_spans(self.layer(words, batch["arcs"]), batch["trigger_word"], batch["trigger_owner"], len(ids))

    return GraphEncoder()
