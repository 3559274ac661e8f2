"""Training of a sparse autoencoder on the inner states of a language model, which are never stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.features.activations import inner_states, state_width
from reprlab.features.autoencoder import SparseAutoencoder
from reprlab.features.settings import AutoencoderSettings
from reprlab.runtime.training_memory import memory_of_whole_batches
from reprlab.text.token_store import TokenStore

if TYPE_CHECKING:
    import torch

    from reprlab.training.engine import TrainingRun

_AT_ONCE = 256


def block_batches(store: TokenStore, rows: np.ndarray, at_once: int = _AT_ONCE) -> Iterator[torch.Tensor]:
    """Some rows of a packed store as int64 [B, L], `at_once` rows a batch."""
    import torch

    for first in range(0, len(rows), at_once):
        ids, _, _ = store.batch(rows[first : first + at_once], store.packed)
        yield torch.from_numpy(ids.astype(np.int64))


def start_sample(model: Any, layer: int, store: TokenStore, share: float, seed: int) -> torch.Tensor:
    """Inner states [n, d] of a share of the blocks (at least one), drawn without replacement."""
    import torch

    count = max(1, round(share * len(store)))
    rows = np.random.Generator(np.random.Philox(key=seed)).permutation(len(store))[:count]
    device = next(model.parameters()).device
    found = [inner_states(model, layer, ids.to(device)).flatten(0, 1) for ids in block_batches(store, np.sort(rows))]
    return torch.cat(found)


def train_on_blocks(
    model: Any,
    store: TokenStore,
    settings: AutoencoderSettings,
    *,
    work: Path,
    save_every: int,
    fingerprint: str,
    device: str,
) -> tuple[SparseAutoencoder, TrainingRun]:
    """Train an autoencoder on the blocks of `store`, resuming from `work`.

    Each update reads its blocks anew through the frozen model: what is streamed fits in memory at any size.
    """
    from reprlab.objectives.causal_lm import Objective
    from reprlab.objectives.causal_lm import Settings as ObjectiveSettings
    from reprlab.training.batches import PretrainingBatches
    from reprlab.training.engine import train
    from reprlab.training.processes import choose_device
    from reprlab.training.settings import PretrainSettings

    place = choose_device(device)
    model.to(place).eval()
    engine = settings.engine
    found = SparseAutoencoder(state_width(model, settings.layer), settings.shape, engine.seed).to(place)
    found.start_from(start_sample(model, settings.layer, store, settings.shape.start_blocks, engine.seed))
    text = PretrainSettings(
        objective="causal_lm", input_length=settings.block, target_length=settings.block, engine=engine
    )
    objective = Objective(ObjectiveSettings(), None, settings.block, settings.block)

    def loss_of(
        autoencoder: torch.nn.Module, batch: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        states = inner_states(model, settings.layer, batch["input_ids"]).flatten(0, 1)
        loss, parts = autoencoder.loss(states)  # type: ignore[operator]
        return loss, {**parts, "tokens": batch["tokens"].sum()}

    run = train(
        found,
        PretrainingBatches(store, objective, text, ahead=place.type == "cuda"),
        loss_of,
        engine,
        work=work,
        save_every=save_every,
        fingerprint=fingerprint,
        on_checkpoint=lambda _step, _model: None,
        device=device,
        after_update=found.constrain,
        memory=memory_of_whole_batches("idle features of an autoencoder are counted by the batch"),
    )
    return found, run
