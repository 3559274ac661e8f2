"""Checks 5.3 and 5.11: parameter counts on the meta device, and how the checkpoints were chosen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from reprlab.config.models import ModelEntry, load_models
from reprlab.models.build import build_from_config
from reprlab.reporting.audit import AuditRow, check, judge

Tables = dict[str, Any]

_ROWS_OF_LIST = 351
_FIRST = 69


def model_checks(tables: Tables, models: Path) -> Iterator[AuditRow]:
    """Checks 5.3 and 5.11."""
    registry = load_models(models)
    for letter, row in zip("ab", tables["models"].itertuples(index=False), strict=True):
        total, embedding = parameters_of(registry[row.model])
        yield check(
            f"5.3{letter}",
            f"{row.model}: parameters, and those of the input embedding",
            f"{int(row.parameters):,} {int(row.embedding):,}",
            f"{total:,} {embedding:,}",
            row.source,
        )
    yield from _selection(tables["checkpoint_list"])


def parameters_of(entry: ModelEntry) -> tuple[int, int]:
    """All parameters (tied ones once) and those of the input embedding, on the meta device."""
    import torch

    with torch.device("meta"):
        model: Any = build_from_config(entry)
    return sum(one.numel() for one in model.parameters()), model.get_input_embeddings().weight.numel()


def _selection(listed: Any) -> Iterator[AuditRow]:
    steps = {int(row.index_): int(row.step) for row in listed.rename(columns={"index": "index_"}).itertuples()}
    stride = _ROWS_OF_LIST // 5
    chosen = [steps.get(index) for index in range(_FIRST, _ROWS_OF_LIST, stride)]
    yield check(
        "5.11a",
        f"Every {stride}th of {_ROWS_OF_LIST} released checkpoints, from row {_FIRST} on",
        "342000 424000 505000 592000 738000",
        " ".join(map(str, chosen)),
        "1000 is the first row; 18000 is row 13, which this rule does not choose",
    )
    known = sorted(steps.values())
    gaps = [later - earlier for earlier, later in pairwise(known)]
    yield judge(
        "5.11b",
        "Section 3.1: checkpoints are selected uniformly by tokens, with the first and the last",
        "uniform",
        "gaps of " + ", ".join(f"{gap:,}" for gap in gaps) + " steps",
        len(set(gaps[1:-1])) == 1,
        "the released list is not uniform in steps; main is 20 steps behind 738000",
    )
