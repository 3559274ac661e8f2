"""Checks 5.8, 5.11 and 5.12: parameters of adapters by peft on the meta device, and invariants of a small model."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.config.models import ModelEntry, ScratchOrigin, load_models
from reprlab.geometry.estimation import estimate_dimension
from reprlab.geometry.settings import EstimatorSettings
from reprlab.models.build import build_from_config
from reprlab.reporting.audit import AuditRow, check, judge
from reprlab.representations.adapters import add_adapter
from reprlab.representations.collection import collect_states
from reprlab.representations.files import layer_files, read_layer
from reprlab.representations.settings import AdapterSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings

if TYPE_CHECKING:
    import numpy as np

    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings

_GAP = 1e-4
_SMALL = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64,
}  # fmt: skip


def parameter_checks(known: Any, models: Path, settings: IntrinsicDimensionSettings) -> Iterator[AuditRow]:
    """Check 5.8: the adapters of the published settings as peft makes them, and all parameters of the model."""
    import torch

    registry = load_models(models)
    adapters = _adapters(settings.finetuning.rank, settings.finetuning.targets)
    for row in known.itertuples(index=False):
        with torch.device("meta"):
            model = build_from_config(registry[row.model])
            total = sum(one.numel() for one in model.parameters())
            adapted = add_adapter(model, adapters)
        trained = sum(one.numel() for one in adapted.parameters() if one.requires_grad)
        what = f"{row.model}: parameters of adapters, r = {adapters.rank}"
        yield check("", what, int(row.adapter_parameters), trained, row.source)
        yield check("", f"{row.model}: parameters, on the meta device", int(row.parameters), total, row.source)


def state_checks() -> Iterator[AuditRow]:
    """Check 5.11, on a random model of Llama's architecture with 3 layers."""
    import numpy as np

    model, prompts = _model_and_prompts()
    together = _states(model, prompts)
    alone = np.concatenate([_states(model, [prompt]) for prompt in prompts], axis=1)
    yield _equal("states of padded batches and of single prompts", together, alone)
    first, second = (_states(model, [prompts[1], prompts[other]])[:, 0] for other in (2, 4))
    yield _equal("states of a prompt beside two different ones", first, second)
    adapted = add_adapter(model, _adapters(4, ["q_proj", "v_proj"])).merge_and_unload()
    same = bool((_states(adapted, prompts) == together).all())
    what = "states with fresh adapters (step 0) equal those of the model"
    found = "identical" if same else "different"
    yield judge("", what, "identical", found, same, "so AUC(sft step 0) = AUC(icl k=0)")


def layer_checks() -> Iterator[AuditRow]:
    """Check 5.12, on the same model."""
    import torch

    model, prompts = _model_and_prompts()
    layer = _states(model, prompts)[0]
    spread = float(abs(layer - layer[:1]).max())
    note = "all prompts end with one token, so that layer 0 is one vector; it is dropped everywhere"
    what = "largest difference in layer 0 between prompts with one last token"
    yield judge("", what, "0", f"{spread:g}", spread == 0, note)
    found = estimate_dimension(torch.from_numpy(layer), [EstimatorSettings(name="two_nn", kind="two_nn")])[0]
    nothing = found.value != found.value and found.n_used == 1
    what = f"{found.value}, {found.n_used} point used"
    yield judge("", "TwoNN on that layer", "no number, 1 point used", what, nothing)


def _model_and_prompts() -> tuple[Any, list[list[int]]]:
    import numpy as np

    origin = ScratchOrigin(kind="scratch")
    entry = ModelEntry(architecture="llama", config=dict(_SMALL), source="audit", tie_output=True, origin=origin)
    rng = np.random.default_rng(0)
    prompts = [[*rng.integers(3, 64, size).tolist(), 7] for size in (3, 9, 21, 14, 5, 17)]
    return build_from_config(entry, seed=0), prompts


def _states(model: Any, prompts: list[list[int]]) -> np.ndarray:
    """States [L+1, N, d]."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        collect_states(model, prompts, [1, 2], Path(folder), 64)
        return np.stack([np.array(read_layer(path)) for path in layer_files(Path(folder))])


def _equal(what: str, one: np.ndarray, other: np.ndarray) -> AuditRow:
    gap = float(abs(one - other).max())
    return judge("", f"largest gap between {what}", f"at most {_GAP:g}", f"{gap:.1e}", gap <= _GAP, "float32")


def _adapters(rank: int, targets: list[str]) -> AdapterSettings:
    engine = EngineSettings(steps=0, batch_size=1, optimizer=OptimizerSettings(learning_rate=1e-4))
    return AdapterSettings(engine=engine, rank=rank, alpha=16, dropout=0.0, targets=targets, max_length=64)
