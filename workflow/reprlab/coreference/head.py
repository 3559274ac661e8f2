"""The coreference head: mention scores, pruning, coarse and fine antecedent scores, marginal likelihood.

Lee et al. 2018 and Joshi et al. 2019 as in Xu and Choi 2020, without higher-order inference. The first layer of a
scorer is linear in the parts of its input, so that each part is projected once (a token, a kept span) instead of once
for each span or pair that holds it; the parameters and the values are those of the whole product.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from reprlab.coreference.settings import HeadSettings
from reprlab.coreference.spans import BUCKETS, candidate_spans, distance_buckets, gold_numbers, uncrossed

_INIT = 0.02


@dataclass(frozen=True)
class Antecedents:
    """Scores of the antecedents of the K kept spans, C for each behind the dummy."""

    starts: torch.Tensor
    """[K]"""
    ends: torch.Tensor
    """[K]"""
    places: torch.Tensor
    """[K, C] place of each antecedent among the kept spans."""
    scores: torch.Tensor
    """[K, 1 + C]; the first is the dummy's, 0. What comes later in the text has -inf."""
    mention: torch.Tensor
    """[K] mention score of each span."""

    def loss(self, clusters: torch.Tensor, mention_loss: float = 0) -> torch.Tensor:
        """Negative log likelihood of all gold antecedents together, or of the dummy, summed over the spans.

        Args:
            clusters: [K] number of each span's gold cluster, 0 for none.
            mention_loss: weight of the summed log loss of whether a span is a gold mention (Xu and Choi's code).
        """
        gold = (clusters[self.places] == clusters[:, None]) & (clusters > 0)[:, None] & self.scores[:, 1:].isfinite()
        labels = torch.cat([~gold.any(1, keepdim=True), gold], 1)
        marginal = torch.where(labels, self.scores, -torch.inf).logsumexp(1)
        loss = (self.scores.logsumexp(1) - marginal).sum()
        if mention_loss == 0:
            return loss
        signed = torch.where(clusters > 0, self.mention, -self.mention)
        return loss - mention_loss * nn.functional.logsigmoid(signed).sum()

    def best(self) -> list[int]:
        """Place of the best antecedent of each span among the kept ones, -1 for the dummy."""
        choice = self.scores.argmax(1)
        found = self.places.gather(1, (choice - 1).clamp(min=0)[:, None])[:, 0]
        return torch.where(choice > 0, found, -1).tolist()


class Scorer(nn.Module):
    """Linear, ReLU, dropout, Linear to one score; the input is given in parts that are projected apart."""

    def __init__(self, parts: list[int], hidden: int, dropout: float) -> None:
        super().__init__()
        self.parts = parts
        self.inner, self.outer = _linear(sum(parts), hidden), _linear(hidden, 1)
        self.dropout = nn.Dropout(dropout)

    def weights(self) -> tuple[torch.Tensor, ...]:
        """[hidden, part] the weight of each part of the input."""
        return self.inner.weight.split(self.parts, dim=1)

    def forward(self, projected: torch.Tensor) -> torch.Tensor:
        """[...] scores of summed projections [..., hidden]."""
        return self.outer(self.dropout(torch.relu(projected + self.inner.bias))).squeeze(-1)


class CoreferenceHead(nn.Module):
    """Antecedent scores from token vectors of width H."""

    def __init__(self, width: int, settings: HeadSettings) -> None:
        super().__init__()
        self.settings = settings
        features, hidden, rate = settings.features, settings.hidden, settings.dropout
        span = 3 * width + features
        self.span_parts = [width, width, features, width]
        self.width = _embedding(settings.max_span_width, features)
        self.width_prior = _embedding(settings.max_span_width, features)
        self.distance_prior = _embedding(BUCKETS, features)
        self.genre = _embedding(max(len(settings.genres), 1), features)
        self.same_speaker = _embedding(2, features)
        self.segment_distance = _embedding(settings.max_segments, features)
        self.distance = _embedding(BUCKETS, features)
        self.token_attention = _linear(width, 1)
        self.span_scorer = Scorer(self.span_parts, hidden, rate)
        self.width_scorer = Scorer([features], hidden, rate)
        self.coarse = _linear(span, span)
        self.distance_scorer = _linear(features, 1)
        self.pair_scorer = Scorer([span, span, span, 4 * features], hidden, rate)
        self.dropout = nn.Dropout(rate)

    def forward(self, states: torch.Tensor, batch: dict[str, torch.Tensor]) -> Antecedents:
        """Scores of one document.

        Args:
            states: [T, H].
            batch: `sentence`, `speaker`, `segment` [T] numbers, and `genre` [].
        """
        candidates = candidate_spans(batch["sentence"], self.settings.max_span_width)
        starts, widths = candidates.nonzero(as_tuple=True)
        attention = self._head_attention(states)
        mention = self._mention_scores(states, attention, starts, widths)
        kept = self._kept(mention.detach(), starts, starts + widths, len(states))
        starts, widths, mention = starts[kept], widths[kept], mention[kept]
        spans = self._span_vectors(states, attention, starts, widths)
        coarse = self._coarse_scores(spans, mention)
        best, places = coarse.topk(min(self.settings.max_antecedents, len(kept)), dim=1)
        scores = best + self._fine_scores(spans, places, starts, batch)
        dummy = scores.new_zeros(len(kept), 1)
        return Antecedents(starts, starts + widths, places, torch.cat([dummy, scores], 1), mention)

    def _head_attention(self, states: torch.Tensor) -> torch.Tensor:
        """[T, W, W] weight of token t + v in the span of w + 1 tokens from t; 0 for v > w."""
        width = self.settings.max_span_width
        scores = _windows(self.token_attention(states), width)[..., 0]
        inside = torch.ones(width, width, dtype=torch.bool, device=states.device).tril()
        return torch.where(inside, scores[:, None], -torch.inf).softmax(-1)

    def _mention_scores(
        self, states: torch.Tensor, attention: torch.Tensor, starts: torch.Tensor, widths: torch.Tensor
    ) -> torch.Tensor:
        """[N] score of each candidate span."""
        first, last, feature, head = self.span_scorer.weights()
        heads = attention @ _windows(states @ head.T, self.settings.max_span_width)
        projected = (states @ first.T)[starts] + (states @ last.T)[starts + widths] + heads[starts, widths]
        scores = self.span_scorer(projected + self.dropout(self.width(widths)) @ feature.T)
        prior = self.width_scorer(self.width_prior.weight @ self.width_scorer.inner.weight.T)
        return scores + prior[widths]

    def _kept(self, scores: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor, length: int) -> torch.Tensor:
        """[K] places of the spans that are kept among the candidates."""
        most = max(1, min(self.settings.max_spans, int(self.settings.span_ratio * length)))
        order = scores.argsort(descending=True, stable=True).tolist()
        kept = uncrossed(starts.tolist(), ends.tolist(), order, min(most, len(order)), length)
        return torch.tensor(kept, device=scores.device)

    def _span_vectors(
        self, states: torch.Tensor, attention: torch.Tensor, starts: torch.Tensor, widths: torch.Tensor
    ) -> torch.Tensor:
        """[K, 3H + F] vectors of the kept spans: first token, last token, width, attended token."""
        weights = attention[starts, widths][:, None]
        inside = starts[:, None] + torch.arange(self.settings.max_span_width, device=states.device)
        heads = (weights @ states[inside.clamp(max=len(states) - 1)])[:, 0]
        parts = [states[starts], states[starts + widths], self.dropout(self.width(widths)), heads]
        return torch.cat(parts, -1)

    def _coarse_scores(self, spans: torch.Tensor, mention: torch.Tensor) -> torch.Tensor:
        """[K, K] score of column as the antecedent of row, -inf where it is not before it."""
        places = torch.arange(len(spans), device=spans.device)
        offsets = places[:, None] - places
        pairs = self.dropout(self.coarse(spans)) @ self.dropout(spans).T
        prior = self.distance_scorer(self.dropout(self.distance_prior.weight))[:, 0]
        scores = pairs + mention[:, None] + mention + prior[distance_buckets(offsets)]
        return torch.where(offsets > 0, scores, -torch.inf)

    def _fine_scores(
        self, spans: torch.Tensor, places: torch.Tensor, starts: torch.Tensor, batch: dict[str, torch.Tensor]
    ) -> torch.Tensor:
        """[K, C] what the pair scorer adds for each antecedent."""
        one, other, product, feature = self.pair_scorer.weights()
        rows = torch.arange(len(spans), device=spans.device)[:, None]
        segment, speaker = batch["segment"][starts], batch["speaker"][starts]
        apart = (segment[:, None] - segment[places]).clamp(0, self.settings.max_segments - 1)
        parts = [
            self.same_speaker((speaker[:, None] == speaker[places]).long()),
            self.genre(batch["genre"].expand_as(places)),
            self.segment_distance(apart),
            self.distance(distance_buckets(rows - places)),
        ]
        projected = (spans @ one.T)[:, None] + (spans @ other.T)[places]
        projected = projected + (spans[:, None] * spans[places]) @ product.T
        return self.pair_scorer(projected + self.dropout(torch.cat(parts, -1)) @ feature.T)


def document_loss(found: Antecedents, batch: dict[str, torch.Tensor], mention_loss: float = 0) -> torch.Tensor:
    """Loss of one document whose batch holds `mentions` [M, 2] and their `clusters` [M]; see `Antecedents.loss`."""
    numbers = gold_numbers(
        *(one.cpu().numpy() for one in (found.starts, found.ends, batch["mentions"], batch["clusters"]))
    )
    return found.loss(torch.from_numpy(numbers).to(found.scores.device), mention_loss)


def _windows(values: torch.Tensor, width: int) -> torch.Tensor:
    """[T, width, D] the tokens from each on, 0 behind the end of the text. Of [T, D]."""
    padded = nn.functional.pad(values, (0, 0, 0, width - 1))
    return padded.unfold(0, width, 1).transpose(1, 2)


def _linear(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.normal_(layer.weight, std=_INIT)
    nn.init.zeros_(layer.bias)
    return layer


def _embedding(count: int, width: int) -> nn.Embedding:
    layer = nn.Embedding(count, width)
    nn.init.normal_(layer.weight, std=_INIT)
    return layer
