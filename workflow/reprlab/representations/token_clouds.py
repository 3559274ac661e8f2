"""The cloud of the tokens of one prompt, layer by layer: dimension, neighbours kept, mean cosine, next-token loss.

After Viswanathan et al. (2025, The Geometry of Tokens in Internal Representations of Large Language Models): points are
the states of all tokens of one prompt, where the other measures of this package have one token of many prompts. Beside
the prompt stands the same one with its tokens in a random order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from reprlab.geometry.curves import normalised_auc
from reprlab.geometry.estimation import estimate_dimension
from reprlab.geometry.settings import EstimatorSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.progress import track

if TYPE_CHECKING:
    import torch

Tokens = Literal["written", "shuffled"]
TOKENS: tuple[Tokens, ...] = get_args(Tokens)
"""`written`: the tokens as the prompt has them; `shuffled`: in a random order, each where it may be."""


class TokenClouds(BaseModel):
    """Which tokens of which prompts, and what is measured of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompts: int = Field(ge=1)
    """Prompts that are read: the first that have enough tokens."""
    tokens: int = Field(ge=8)
    """Tokens of a prompt, its first ones; an estimate depends on their number, so that all prompts have as many."""
    neighbours: int = Field(ge=1)
    """k of the neighbourhoods that are compared from layer to layer."""
    estimator: EstimatorSettings
    """Estimator of the dimension."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward pass; states are float32."""
    seed: int = Field(default=0, ge=0)
    """Seed of the orders."""


@dataclass(frozen=True)
class Cloud:
    """What is measured of one prompt; lists have an entry for each layer 1 to L."""

    dimension: list[float]
    overlap: list[float]
    """With the layer below; that of layer 1 is with the embeddings, where equal tokens are equal points."""
    cosine: list[float]
    loss: float
    """Mean next-token loss of the tokens but the first, nats."""


def neighbour_overlap(first: torch.Tensor, second: torch.Tensor, k: int) -> float:
    """The share of the k nearest neighbours of a point that it has in both of two clouds, in the mean over points.

    Args:
        first, second: [T, d] and [T, e], row by row the same point; distances are Euclidean, in float64.
        k: below T.

    Raises:
        ReprlabError: there are no k other points.
    """
    import torch

    if not 1 <= k < len(first):
        raise ReprlabError(f"{k} neighbours of {len(first)} tokens: ask for fewer, or take more tokens")
    nearest = []
    for points in (first, second):
        exact = points.double()
        # By differences: products lose the digits that tell near points apart.
        gaps = torch.cdist(exact, exact, compute_mode="donot_use_mm_for_euclid_dist").fill_diagonal_(torch.inf)
        # In the order of the points where distances are equal.
        nearest.append(gaps.sort(dim=1, stable=True).indices[:, :k])
    one, two = nearest
    return float((one[:, :, None] == two[:, None, :]).any(2).double().mean())


def mean_cosine(points: torch.Tensor) -> float:
    """The mean cosine between two different points of a cloud [T, d], not centred."""
    import torch

    unit = torch.nn.functional.normalize(points.double(), dim=1)
    count = len(unit)
    return float((unit.sum(0).square().sum() - unit.square().sum()) / (count * (count - 1)))


def cloud_of(layers: Sequence[torch.Tensor], loss: float, settings: TokenClouds) -> Cloud:
    """Measures of one prompt.

    Args:
        layers: states [T, d] of the embedding and of layers 1 to L.

    Raises:
        ReprlabError: a state is not finite, or fewer tokens than neighbours.
    """
    found = [estimate_dimension(points, [settings.estimator])[0].value for points in layers[1:]]
    pairs = itertools.pairwise(layers)
    overlaps = [neighbour_overlap(below, above, settings.neighbours) for below, above in pairs]
    return Cloud(found, overlaps, [mean_cosine(points) for points in layers[1:]], loss)


def order_of(ids: Sequence[int], tokens: Tokens, settings: TokenClouds, prompt: int, fixed: int) -> list[int]:
    """The tokens of prompt number `prompt` in an order; the first `fixed`, which the tokenizer put there, stay."""
    import numpy as np

    cut = list(ids[: settings.tokens])
    if tokens == "written":
        return cut
    rng = np.random.Generator(np.random.Philox(key=[settings.seed, prompt]))
    return [*cut[:fixed], *(cut[fixed + place] for place in rng.permutation(len(cut) - fixed).tolist())]


def clouds(
    model: Any, prompts: Sequence[Sequence[int]], settings: TokenClouds, fixed: int
) -> dict[Tokens, list[Cloud]]:
    """Clouds of the first prompts that have enough tokens, as they are written and with their tokens shuffled.

    Args:
        model: a causal language model, on its device and in its arithmetic.
        fixed: tokens at the start of each prompt that the tokenizer put there.

    Raises:
        ReprlabError: no prompt has enough tokens, or as of `cloud_of`.
    """
    import torch

    long = [ids for ids in prompts if len(ids) >= settings.tokens][: settings.prompts]
    if not long:
        most = max(map(len, prompts), default=0)
        raise ReprlabError(f"tokens: {settings.tokens}, but the longest prompt has {most}; lower it")
    device = next(model.parameters()).device
    found: dict[Tokens, list[Cloud]] = {tokens: [] for tokens in TOKENS}
    model.eval()
    with torch.inference_mode():
        for number, ids in enumerate(track(long, "clouds of tokens")):
            for tokens, known in found.items():
                given = torch.tensor([order_of(ids, tokens, settings, number, fixed)], device=device)
                output = model(input_ids=given, output_hidden_states=True, use_cache=False)
                loss = torch.nn.functional.cross_entropy(output.logits[0, :-1].float(), given[0, 1:])
                layers = [layer[0].float() for layer in output.hidden_states]
                known.append(cloud_of(layers, float(loss), settings))
    return found


def cloud_rows(tokens: Tokens, found: Sequence[Cloud]) -> Iterator[dict[str, Any]]:
    """Rows of `tokens`: means over prompts with bootstrap intervals by layer, the mean loss, and the rank correlation
    over prompts of the area under the curve of dimension (`curves.normalised_auc`) and the loss."""
    from reprlab.evaluation.bootstrap import mean_interval
    from reprlab.statistics import rank_correlation

    about = {"tokens_are": tokens, "n": len(found)}
    for metric in ("dimension", "overlap", "cosine"):
        for layer, values in enumerate(zip(*(getattr(cloud, metric) for cloud in found), strict=True), start=1):
            yield {**about, "layer": layer, "metric": f"token_{metric}", **_bounds(*mean_interval(values))}
    losses = [cloud.loss for cloud in found]
    yield {**about, "layer": math.nan, "metric": "token_loss", **_bounds(*mean_interval(losses))}
    areas = [normalised_auc(cloud.dimension) for cloud in found]
    rank = rank_correlation(areas, losses, "prompt")
    yield {**about, "layer": math.nan, "metric": "dimension_and_loss", **_bounds(rank.value, rank.low, rank.high)}


def _bounds(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": value, "low": low, "high": high}
