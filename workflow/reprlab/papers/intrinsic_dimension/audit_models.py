"""Checks 5.8, 5.11 and 5.12: parameter counts on the meta device, and invariants of a small model."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.config.models import ModelEntry, ScratchOrigin, load_models
from reprlab.geometry.estimation import estimate_dimension
from reprlab.geometry.settings import EstimatorSettings
from reprlab.models.build import build_from_config
from reprlab.models.counting import parameter_count
from reprlab.reporting.audit import AuditRow, check, judge
from reprlab.representations.adapters import add_adapter
from reprlab.representations.collection import collect_states
from reprlab.representations.files import layer_files, read_layer
from reprlab.representations.settings import AdapterSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings

if TYPE_CHECKING:
    import numpy as np

_RANK = 64
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}


def parameter_checks(known: Any, models: Path) -> list[AuditRow]:
    """Check 5.8: LoRA with r = 64 on query, key, value and output, and all parameters."""
    registry = load_models(models)
    rows = []
    letters = iter(_LETTERS)
    for row in known.itertuples(index=False):
        entry = registry[row.model]
        adapters = adapter_parameters(entry, _RANK)
        rows.append(
            check(
                f"5.8{next(letters)}",
                f"{row.model}: parameters of adapters, r = 64",
                int(row.adapter_parameters),
                adapters,
                row.source,
            )
        )
        total = parameter_count(entry)
        what = f"{row.model}: parameters, on the meta device"
        rows.append(check(f"5.8{next(letters)}", what, int(row.parameters), total, row.source))
    return rows


def adapter_parameters(entry: ModelEntry, rank: int) -> int:
    """L r (2 (h + h) + 2 (h + h_kv)): query and output map h to h, key and value h to h_kv."""
    width, layers = int(entry.config["hidden_size"]), int(entry.config["num_hidden_layers"])
    heads = int(entry.config["num_attention_heads"])
    narrow = width // heads * int(entry.config.get("num_key_value_heads", heads))
    return layers * rank * (2 * (width + width) + 2 * (width + narrow))


def invariant_checks() -> list[AuditRow]:
    """Checks 5.11 and 5.12, on a random model of Llama's architecture with 3 layers."""
    return list(_invariants())


def _invariants() -> Iterator[AuditRow]:
    import numpy as np

    entry = ModelEntry(
        architecture="llama",
        config=dict(_SMALL),
        source="the audit's own",
        tie_output=True,
        origin=ScratchOrigin(kind="scratch"),
    )
    model = build_from_config(entry, seed=0)
    rng = np.random.default_rng(0)
    prompts = [[*rng.integers(3, 64, size).tolist(), 7] for size in (3, 9, 21, 14, 5, 17)]
    together = _states(model, prompts)
    alone = np.concatenate([_states(model, [prompt]) for prompt in prompts], axis=1)
    gap = float(np.abs(together - alone).max())
    yield judge(
        "5.11a",
        "largest gap between states of padded batches and of single prompts",
        "at most 1e-4",
        f"{gap:.1e}",
        gap <= 1e-4,
        "float32",
    )
    others = np.concatenate(
        [_states(model, [prompts[1], prompts[2]])[:, :1], _states(model, [prompts[1], prompts[4]])[:, :1]], 1
    )
    gap = float(np.abs(others[:, 0] - others[:, 1]).max())
    yield judge(
        "5.11b",
        "largest gap between states of a prompt beside two different ones",
        "at most 1e-4",
        f"{gap:.1e}",
        gap <= 1e-4,
        "float32",
    )
    adapted = add_adapter(model, _adapters()).merge_and_unload()
    same = bool((_states(adapted, prompts) == together).all())
    yield judge(
        "5.11c",
        "states with fresh adapters (step 0) equal those of the model",
        "identical",
        "identical" if same else "different",
        same,
        "so AUC(sft step 0) = AUC(icl k=0)",
    )
    spread = float(np.abs(together[0] - together[0][:1]).max())
    note = "all prompts end with one token, so that layer 0 is one vector; it is dropped everywhere"
    yield judge(
        "5.12a",
        "largest difference in layer 0 between prompts with one last token",
        "0",
        f"{spread:g}",
        spread == 0,
        note,
    )
    yield _no_number(together[0])


def _no_number(layer: np.ndarray) -> AuditRow:
    import torch

    found = estimate_dimension(torch.from_numpy(layer), [EstimatorSettings(name="two_nn", kind="two_nn")])[0]
    nothing = math.isnan(found.value) and found.n_used == 1
    return judge(
        "5.12b", "TwoNN on that layer", "no number, 1 point used", f"{found.value}, {found.n_used} point used", nothing
    )


def _states(model: Any, prompts: list[list[int]]) -> np.ndarray:
    """States [L+1, N, d]."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        collect_states(model, prompts, [1, 2], Path(folder), 64)
        return np.stack([np.array(read_layer(path)) for path in layer_files(Path(folder))])


def _adapters() -> AdapterSettings:
    engine = EngineSettings(steps=0, batch_size=1, optimizer=OptimizerSettings(learning_rate=1e-4))
    return AdapterSettings(engine=engine, rank=4, alpha=16, dropout=0.0, targets=["q_proj", "v_proj"], max_length=64)
