"""Speed of rerankers in training and scoring, and where the time goes, on sequences of random tokens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.inference.call_seconds import call_seconds
from reprlab.retrieval.memory_limits import OUT_OF_MEMORY, is_out_of_memory

if TYPE_CHECKING:
    import torch

_FIRST_TOKEN = 5
_SMALLER = f"{OUT_OF_MEMORY} with fewer or shorter sequences already"


class SpeedSettings(BaseModel):
    """Settings of the timing; random tokens, so that no tokenizer counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    template: str
    """Template of the model: decides the token that is scored."""
    encoder_cls: bool = False
    """Whether an encoder-decoder is its encoder alone."""
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
    """Timed repeats, whose median counts."""
    warmups: int = Field(default=1, ge=0)
    """Repeats before them that are not timed."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward passes, as in training and scoring."""
    attention: list[Literal["sdpa", "eager"]] = []
    """Implementations of attention that are measured, PyTorch's fused one or one product after the other; none: the
    model has no attention."""
    operators: int = Field(ge=1)
    """Operators of the profile, the ones with most time of their own."""


def measured_rows(whole: Any, settings: SpeedSettings, device: torch.device) -> list[dict[str, Any]]:
    """`speed_rows` of a model as a reranker, with the `device` and `kernels`, the path of state-space models: compiled,
    chunked (ours), or none for the others."""
    from reprlab.models.build import encoder_alone
    from reprlab.models.selective_scan import install_scans
    from reprlab.retrieval.reranker import POOLED, reranker

    path = install_scans(device)
    whole = encoder_alone(whole) if settings.encoder_cls else whole
    kernels = path if whole.config.model_type.startswith("mamba") else "none"
    network = reranker(whole, POOLED[settings.template], 0.0).to(device)
    rows = speed_rows(network, settings, whole.config.vocab_size, device)
    return [{**row, "kernels": kernels, "device": device.type} for row in rows]


def speed_rows(model: Any, settings: SpeedSettings, vocabulary: int, device: torch.device) -> Iterator[dict[str, Any]]:
    """Rows of `training_speed` (tokens a second), `scoring_speed` (queries a second) and `operator_share` (percent).

    A row whose sequences do not fit into memory has no numbers and the `reason` out of memory; larger ones of the same
    kind are not tried any more and say so. Other errors are raised.
    """
    for attention in settings.attention or (None,):
        if attention is not None:
            model.backbone.set_attn_implementation(attention)
        for row in _rows(model, settings, vocabulary, device):
            yield {**row, "attention": attention or "none", "dtype": settings.dtype}


def _rows(model: Any, settings: SpeedSettings, vocabulary: int, device: torch.device) -> Iterator[dict[str, Any]]:
    import torch

    generator = torch.Generator().manual_seed(0)

    def tokens(batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        ids = torch.randint(_FIRST_TOKEN, vocabulary, (batch, length), generator=generator).to(device)
        return ids, torch.ones_like(ids)

    def precision() -> contextlib.AbstractContextManager[Any]:
        half = settings.dtype == "bfloat16"
        return torch.autocast(device.type, dtype=torch.bfloat16) if half else contextlib.nullcontext()

    def update(ids: torch.Tensor, mask: torch.Tensor) -> None:
        model.zero_grad(set_to_none=True)
        with precision():
            scores = model(ids, mask)
        scores.sum().backward()

    def score(ids: torch.Tensor, mask: torch.Tensor) -> None:
        with torch.inference_mode(), precision():
            model(ids, mask)

    def timed(call: Callable[..., None], batch: int, length: int) -> list[float]:
        given = tokens(batch, length)
        return call_seconds(lambda: call(*given), device, repeats=settings.repeats, warmups=settings.warmups)

    model.train()
    training = [(batch, settings.training_length) for batch in settings.training_batches]
    for (batch, length), seconds in _fitting(model, training, lambda *cell: timed(update, *cell)):
        yield _row("training_speed", batch * length, seconds, length, batch)
    model.zero_grad(set_to_none=True)
    model.eval()
    share = settings.batch / settings.documents
    scoring = [(settings.batch, length) for length in settings.lengths]
    for (batch, length), seconds in _fitting(model, scoring, lambda *cell: timed(score, *cell)):
        yield _row("scoring_speed", share, seconds, length, batch)
    profiled = [(settings.batch, settings.lengths[0])]
    for (batch, length), shares in _fitting(
        model, profiled, lambda *cell: _profile(score, tokens(*cell), settings.operators)
    ):
        about = {"length": length, "batch": batch}
        if isinstance(shares, str):
            yield {"metric": "operator_share", "value": None, "n": None, **about, "operator": "", "reason": shares}
            continue
        for operator, percent in shares:
            yield {"metric": "operator_share", "value": percent, "n": 1, **about, "operator": operator, "reason": ""}


def _fitting(
    model: Any, cells: list[tuple[int, int]], measure: Callable[[int, int], list[Any]]
) -> Iterator[tuple[tuple[int, int], list[Any] | str]]:
    """Each (batch, length) with what is measured, or with the reason where it does not fit into memory."""
    import torch

    failed: list[tuple[int, int]] = []
    for batch, length in cells:
        if any(batch >= one and length >= other for one, other in failed):
            yield (batch, length), _SMALLER
            continue
        found: list[Any] | str = OUT_OF_MEMORY
        try:
            found = measure(batch, length)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            failed.append((batch, length))
        if failed:
            # Behind the handler, whose error holds what was allocated until then.
            model.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()
        yield (batch, length), found


def _row(metric: str, amount: float, seconds: list[float] | str, length: int, batch: int) -> dict[str, Any]:
    import statistics

    about = {"metric": metric, "length": length, "batch": batch, "operator": ""}
    if isinstance(seconds, str):
        return {**about, "value": None, "n": None, "reason": seconds}
    return {**about, "value": amount / statistics.median(seconds), "n": len(seconds), "reason": ""}


def _profile(call: Callable[..., None], given: tuple[torch.Tensor, torch.Tensor], most: int) -> list[tuple[str, float]]:
    from torch.profiler import ProfilerActivity, profile

    cuda = given[0].is_cuda
    with profile(activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if cuda else [])]) as found:
        call(*given)
    return operator_shares(found.key_averages(), "self_device_time_total" if cuda else "self_cpu_time_total", most)


def operator_shares(events: Iterable[Any], own: str, most: int) -> list[tuple[str, float]]:
    """The operators with most time of their own, and their percent of all.

    What a GPU does is in the list twice, as time of the operator that asked for it and under the name of its kernel;
    the operators are those that the processor runs.
    """
    from torch.autograd import DeviceType

    operators = [event for event in events if event.device_type == DeviceType.CPU]
    times = sorted(((getattr(event, own), event.key) for event in operators), reverse=True)
    total = sum(value for value, _ in times) or 1
    return [(name, 100 * value / total) for value, name in times[:most]]
