"""Classification of pairs of spans: each document is encoded once, whatever the number of its pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.models.settings import Features

if TYPE_CHECKING:
    import torch


def pool_spans(states: torch.Tensor, place: torch.Tensor, owner: torch.Tensor, spans: int) -> torch.Tensor:
    """[spans, d]: mean of the states [tokens, d] at `place` [s] over each span's own, named by `owner` [s]."""
    import torch

    sums = states.new_zeros(spans, states.shape[1]).index_add_(0, owner, states[place])
    counts = torch.bincount(owner, minlength=spans).clamp(min=1)
    return sums / counts.unsqueeze(1).to(states.dtype)


def pair_head(width: int, classes: int, dropout: float, features: Features = "concatenated") -> torch.nn.Module:
    """Linear(2d, d), GELU, dropout, Linear(d, C) on [r_h; r_t] (the paper does not say more than feed-forward).

    `compared`: product and absolute difference are beside the two (as in sentence-pair classifiers, Conneau et al.
    2017), so that likeness need not be learned from examples; the first layer is Linear(4d, d).
    """
    import torch

    return torch.nn.Sequential(
        torch.nn.Linear((2 if features == "concatenated" else 4) * width, width),
        torch.nn.GELU(),
        torch.nn.Dropout(dropout),
        torch.nn.Linear(width, classes),
    )


def span_pair_classifier(
    encoder: Any, classes: int, dropout: float, rate_factor: float = 1.0, features: Features = "concatenated"
) -> Any:
    """An encoder with a head over pairs of spans, which learns at `rate_factor` times the encoder's rate.

    Its forward takes `input_ids` and `attention_mask` [W, L], `span_place` and `span_owner` [s] (a place is
    window * L + position), `span_count` [1] and `pairs` [P, 2], and gives logits [P, C].
    """
    import torch

    class SpanPairClassifier(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder
            self.head = pair_head(encoder.config.hidden_size, classes, dropout, features)
            for parameter in self.head.parameters():
                parameter.rate_factor = rate_factor  # type: ignore[attr-defined]

        def vectors(self, batch: dict[str, Any]) -> torch.Tensor:
            """[spans, d]."""
            states = self.encoder(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
            ).last_hidden_state
            spans = int(batch["span_count"])
            return pool_spans(states.flatten(0, 1), batch["span_place"], batch["span_owner"], spans)

        def scores(self, vectors: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
            """[P, C] logits of pairs of the given vectors."""
            head, tail = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
            compared = [] if features == "concatenated" else [head * tail, (head - tail).abs()]
            return self.head(torch.cat([head, tail, *compared], dim=1))

        def forward(self, batch: dict[str, Any]) -> torch.Tensor:
            return self.scores(self.vectors(batch), batch["pairs"])

    return SpanPairClassifier()
