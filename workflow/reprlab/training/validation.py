"""Losses on batches that are the same for every checkpoint."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.runtime.errors import ReprlabError
from reprlab.training.batches import collate
from reprlab.training.processes import choose_device
from reprlab.training.randomness import Purpose, generator
from reprlab.training.settings import EvaluationSettings

if TYPE_CHECKING:
    import torch

    from reprlab.text.token_store import TokenStore


@dataclass(frozen=True)
class FixedBatch:
    """One collated batch and how it was made."""

    number: int
    shuffled: bool
    tensors: dict[str, torch.Tensor]


def fixed_batches(store: TokenStore, objective: Any, settings: EvaluationSettings) -> list[FixedBatch]:
    """Batches by the seed alone. They are drawn at random and not sorted by length: a bootstrap resamples them.

    A batch of an objective with sentences (`token_format` "depth") comes twice, shuffled and in order, with the same
    generator.

    Raises:
        ReprlabError: the split does not fill one batch.
    """
    order = generator(settings.seed, Purpose.EVALUATION_CHOICE, 0).permutation(len(store))
    count = min(settings.batches, len(store) // settings.batch_size)
    if count == 0:
        raise ReprlabError(
            f"evaluation: {len(store)} {settings.split} examples do not fill one batch of {settings.batch_size}; "
            "lower batch_size or take a larger corpus"
        )
    orders = (False, True) if objective.token_format == "depth" else (False,)  # noqa: S105 (not a secret)
    batches = []
    for number in range(count):
        rows = order[number * settings.batch_size : (number + 1) * settings.batch_size]
        for shuffled in orders:
            random = generator(settings.seed, Purpose.EVALUATION_CORRUPTION, number)
            tensors = collate(store, rows, objective, settings.input_length, random, shuffled)
            batches.append(FixedBatch(number, shuffled, tensors))
    return batches


def validation_rows(
    step: int, model: torch.nn.Module, objective: Any, batches: list[FixedBatch], dtype: str, device: str
) -> list[dict[str, Any]]:
    """One row per batch: `step`, `shuffled`, `batch`, `tokens` and the objective's sums and counts."""
    import torch

    place = choose_device(device)
    model.to(place).eval()
    precision = torch.autocast(place.type, dtype=torch.bfloat16) if dtype == "bfloat16" else contextlib.nullcontext()
    rows = []
    with torch.inference_mode(), precision:
        for batch in batches:
            tensors = {name: value.to(place) for name, value in batch.tensors.items() if name != "tokens"}
            _, parts = objective.loss(model, tensors)
            row = {"step": step, "shuffled": str(batch.shuffled).lower(), "batch": batch.number}
            tokens = int(batch.tensors["tokens"].sum())
            rows.append({**row, "tokens": tokens, **{name: float(value) for name, value in parts.items()}})
    return rows
