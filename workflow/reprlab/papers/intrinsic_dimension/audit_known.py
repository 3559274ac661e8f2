"""Known answers: parameters of adapters by peft, invariants of a small model, the estimators on fixtures in float64."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reprlab.geometry.curves import normalised_auc
from reprlab.geometry.estimation import estimate_dimension
from reprlab.geometry.estimators import gride, levina_bickel, two_nn
from reprlab.geometry.neighbours import nearest_distances
from reprlab.geometry.settings import EstimatorSettings
from reprlab.models.build import build_from_config
from reprlab.models.random_model import random_model
from reprlab.reporting.audit import Found, found
from reprlab.reporting.audit_given import Given
from reprlab.representations.adapters import add_adapter
from reprlab.representations.collection import collect_states
from reprlab.representations.files import layer_files, read_layer
from reprlab.representations.settings import AdapterSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings

_GAP = 1e-4


def parameters_of_adapters(given: Given) -> Iterator[Found]:
    """5.8: the adapters of the published settings as peft makes them, and all parameters of the model."""
    settings = given.settings.finetuning
    for row in given.tables["models"].itertuples(index=False):
        with torch.device("meta"):
            model = build_from_config(given.entry(row.model))
            total = sum(one.numel() for one in model.parameters())
            adapted = add_adapter(model, _adapters(settings.rank, settings.targets))
        trained = sum(one.numel() for one in adapted.parameters() if one.requires_grad)
        of_adapters = f"parameters of adapters, r = {settings.rank}"
        yield found(trained, printed=row.adapter_parameters, counted=of_adapters, row=row)
        yield found(total, printed=row.parameters, counted="parameters, on the meta device", row=row)


def _model_and_prompts() -> tuple[Any, list[list[int]]]:
    """A model of Llama's architecture with 3 layers, and prompts that end with one token."""
    sizes = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "max_position_embeddings": 64}
    model = random_model("llama", **sizes, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2)
    rng = np.random.default_rng(0)
    return model, [[*rng.integers(3, 64, size).tolist(), 7] for size in (3, 9, 21, 14, 5, 17)]


def _states(model: Any, prompts: list[list[int]]) -> np.ndarray:
    """States [L+1, N, d]."""
    with tempfile.TemporaryDirectory() as folder:
        collect_states(model, prompts, [1, 2], Path(folder), 64)
        return np.stack([np.array(read_layer(path)) for path in layer_files(Path(folder))])


def states(given: Given) -> Iterator[Any]:
    """5.11: batches and neighbours leave the states as they are, and so do fresh adapters."""
    model, prompts = _model_and_prompts()
    together = _states(model, prompts)
    alone = np.concatenate([_states(model, [prompt]) for prompt in prompts], axis=1)
    first, second = (_states(model, [prompts[1], prompts[other]])[:, 0] for other in (2, 4))
    for one, other in ((together, alone), (first, second)):
        gap = float(abs(one - other).max())
        yield found(gap, gap <= _GAP, most=_GAP)
    adapted = add_adapter(model, _adapters(4, ["q_proj", "v_proj"])).merge_and_unload()
    yield bool((_states(adapted, prompts) == together).all())


def layer_0(given: Given) -> Iterator[Any]:
    """5.12: one vector for all prompts, and TwoNN on it."""
    layer = _states(*_model_and_prompts())[0]
    yield float(abs(layer - layer[:1]).max())
    one = estimate_dimension(torch.from_numpy(layer), [EstimatorSettings(name="two_nn", kind="two_nn")])[0]
    yield found(one.value, one.value != one.value and one.n_used == 1, used=one.n_used)


def _adapters(rank: int, targets: list[str]) -> AdapterSettings:
    engine = EngineSettings(steps=0, batch_size=1, optimizer=OptimizerSettings(learning_rate=1e-4))
    return AdapterSettings(engine=engine, rank=rank, alpha=16, dropout=0.0, targets=targets, max_length=64)


def exact_ratios(given: Given, *, dimension: str) -> float:
    """5.1: TwoNN on ratios as a space of this dimension has them."""
    count = 1000
    share = torch.arange(1, count, dtype=torch.float64) / count
    second = (1 - share) ** (-1 / float(dimension))
    second = torch.cat([second, 2 * second[-1:]])
    return two_nn(torch.stack([torch.ones(count, dtype=torch.float64), second], 1)).value


def exact_distances(given: Given, *, k: str) -> float:
    """5.2: the factor by which Levina-Bickel is biased."""
    distances = (torch.arange(1, int(k) + 1, dtype=torch.float64) / int(k)) ** 0.5
    return levina_bickel(distances[None], int(k)).value / 2


def _cloud(dimension: int, count: int = 2000) -> Any:
    """Points [count, dimension] of U(0, 1)."""
    return torch.tensor(np.random.default_rng(0).random((count, dimension)))


def uniform_cloud(
    given: Given,
    *,
    dimension: str,
    count: str = "2000",
    twins: str = "0",
    rule: str = "drop",
    estimator: str = "two_nn",
) -> float:
    """5.3, 5.5, 5.6: an estimator on uniform points, some of which have a twin."""
    points, copied = _cloud(int(dimension), int(count)), int(twins)
    points[:copied] = points[copied : 2 * copied].clone()
    values = {"name": estimator, "kind": estimator.removesuffix("_50"), "duplicates": rule}
    return estimate_dimension(points, [EstimatorSettings.model_validate(values)])[0].value


def scale(given: Given, *, rank: str, double: str) -> float:
    return gride(nearest_distances(_cloud(5), 64), int(rank), int(double)).value


def constant_curve(given: Given, *, norm: str) -> float:
    return normalised_auc([1.0] * 32, norm)  # type: ignore[arg-type]
