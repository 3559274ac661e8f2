"""Parameter counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from reprlab.models.build import build_from_config
from reprlab.reporting.audit import Found, found
from reprlab.reporting.audit_given import Given


def parameters_and_embedding(given: Given) -> Iterator[Found]:
    """5.3: all parameters (tied ones once) and those of the input embedding, on the meta device."""
    for row in given.tables["models"].itertuples(index=False):
        with torch.device("meta"):
            model: Any = build_from_config(given.entry(row.model))
        counts = sum(one.numel() for one in model.parameters()), model.get_input_embeddings().weight.numel()
        printed = f"{int(row.parameters):,} {int(row.embedding):,}"
        yield found("{:,} {:,}".format(*counts), model=row.model, printed=printed, source=row.source)
