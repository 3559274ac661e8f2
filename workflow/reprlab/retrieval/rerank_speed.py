"""How fast rerankers train and score, and where the time goes, on sequences of random tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import torch

_FIRST_TOKEN = 5


class SpeedSettings(BaseModel):
    """What is measured; random tokens, so that no tokenizer counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    template: str
    """Template of the model: decides the token that is scored."""
    training_length: int = Field(ge=2)
    """Tokens of a training sequence."""
    training_batches: list[int] = Field(min_length=1)
    """Sequences of an update."""
    lengths: list[int] = Field(min_length=1)
    """Tokens of a scored sequence."""
    batch: int = Field(ge=1)
    """Sequences of a forward pass."""
    documents: int = Field(ge=1)
    """Documents of a query."""
    repeats: int = Field(ge=2)
    """Timed repeats, after one that is not; their median counts, with the second lowest and highest beside it."""
    operators: int = Field(ge=1)
    """Operators of the profile, the ones with most time of their own."""


def speed_rows(model: Any, settings: SpeedSettings, vocabulary: int, device: torch.device) -> Iterator[dict[str, Any]]:
    """Rows of `training_speed` (tokens a second), `scoring_speed` (queries a second) and `operator_share` (percent)."""
    import torch

    generator = torch.Generator().manual_seed(0)

    def tokens(batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        ids = torch.randint(_FIRST_TOKEN, vocabulary, (batch, length), generator=generator).to(device)
        return ids, torch.ones_like(ids)

    def update(ids: torch.Tensor, mask: torch.Tensor) -> None:
        model.zero_grad(set_to_none=True)
        model(ids, mask).sum().backward()

    def score(ids: torch.Tensor, mask: torch.Tensor) -> None:
        with torch.inference_mode():
            model(ids, mask)

    model.train()
    length = settings.training_length
    for batch in settings.training_batches:
        given = tokens(batch, length)
        yield _row("training_speed", batch * length, _seconds(update, given, settings.repeats), length, batch)
    model.eval()
    for length in settings.lengths:
        given = tokens(settings.batch, length)
        share = settings.batch / settings.documents
        yield _row("scoring_speed", share, _seconds(score, given, settings.repeats), length, settings.batch)
    length = settings.lengths[0]
    for operator, percent in _profile(score, tokens(settings.batch, length), settings.operators):
        about = {"length": length, "batch": settings.batch, "operator": operator}
        yield {"metric": "operator_share", "value": percent, "n": 1, **about}


def _seconds(call: Callable[..., None], given: tuple[torch.Tensor, torch.Tensor], repeats: int) -> list[float]:
    import torch

    found = []
    for number in range(repeats + 1):
        started = time.perf_counter()
        call(*given)
        if given[0].is_cuda:
            torch.cuda.synchronize()
        if number:
            found.append(time.perf_counter() - started)
    return sorted(found)


def _row(metric: str, amount: float, seconds: list[float], length: int, batch: int) -> dict[str, Any]:
    import statistics

    about = {"length": length, "batch": batch, "operator": ""}
    return {"metric": metric, "value": amount / statistics.median(seconds), "n": len(seconds), **about}


def _profile(call: Callable[..., None], given: tuple[torch.Tensor, torch.Tensor], most: int) -> list[tuple[str, float]]:
    from torch.profiler import ProfilerActivity, profile

    cuda = given[0].is_cuda
    with profile(activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if cuda else [])]) as found:
        call(*given)
    own = "self_device_time_total" if cuda else "self_cpu_time_total"
    times = sorted(((getattr(event, own), event.key) for event in found.key_averages()), reverse=True)
    total = sum(value for value, _ in times) or 1
    return [(name, 100 * value / total) for value, name in times[:most]]
