"""Small random models, on which audits show what holds for every model of an architecture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reprlab.models.build import build_from_config
from reprlab.registry.models import ModelEntry


def random_model(architecture: str, **config: Any) -> Any:
    """A model of the registry's `architecture` with random weights (seed 0, output tied), in evaluation mode."""
    values = {"architecture": architecture, "config": config, "source": "random", "tie_output": True}
    entry = ModelEntry.model_validate({**values, "origin": {"kind": "scratch"}})
    return build_from_config(entry, seed=0).eval().requires_grad_(False)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread of torch within: on several, sums are taken in another order."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
