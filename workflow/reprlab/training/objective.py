"""Objectives by name, in the form that the training loop calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.plugins import load_plugin
from reprlab.runtime.errors import ReprlabError
from reprlab.training.replay import REPLAYED, replay_counts
from reprlab.training.settings import TextSettings

if TYPE_CHECKING:
    import torch

# Of a batch: what says how much is read, and is not the objective's.
_COUNTED = ("tokens", REPLAYED)


def load_objective(settings: TextSettings, tokenizer: Path) -> Any:
    """The objective that the settings name, over the vocabulary of a tokenizer folder.

    Raises:
        ReprlabError: no such objective, or it refuses its settings.
    """
    from pydantic import ValidationError

    module = load_plugin("objectives", settings.objective)
    try:
        own = module.Settings.model_validate(settings.objective_settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in ("objective_settings", *first["loc"]))
        raise ReprlabError(f"{where}: {first['msg']} (got {first.get('input')!r})") from None
    vocabulary = module.Objective.open_vocabulary(tokenizer)
    return module.Objective(own, vocabulary, settings.input_length, settings.target_length)


def loss_with_tokens(
    objective: Any,
) -> Callable[[torch.nn.Module, dict[str, torch.Tensor]], tuple[torch.Tensor, dict[str, torch.Tensor]]]:
    """The objective's loss, with the text tokens of the batch among its counts, and what of it is replayed."""

    def loss_of(model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        loss, parts = objective.loss(model, {name: value for name, value in batch.items() if name not in _COUNTED})
        return loss, {**parts, **replay_counts(batch), "tokens": batch["tokens"].sum()}

    return loss_of
