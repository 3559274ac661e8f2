"""Collected states on disk: one folder a model variant, one array [N, d] a layer.

    <folder>/<variant>/layer-00.npy … layer-LL.npy   float32 [N, d], opened as memory maps

Variant `base` is the model without adapter, `step-00000062` the adapter after 62 steps. Layer 0 is the embedding.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.runtime.errors import ReprlabError, raise_if_machine_is_short

if TYPE_CHECKING:
    import numpy as np

BASE = "base"


def variant_names(steps: list[int]) -> list[str]:
    """Variants of a collection: those of an adapter's steps, or the model alone."""
    return [f"step-{step:08d}" for step in steps] or [BASE]


def variant_step(variant: str) -> int:
    """The step of a variant; 0 for the model alone."""
    return 0 if variant == BASE else int(variant.rpartition("-")[2])


def layer_file(variant: Path, layer: int) -> Path:
    """The array of one layer."""
    return variant / f"layer-{layer:02d}.npy"


def layer_files(variant: Path) -> list[Path]:
    """The arrays of all layers, embedding first.

    Raises:
        ReprlabError: there is none.
    """
    found = sorted(variant.glob("layer-*.npy"), key=lambda path: int(path.stem.partition("-")[2]))
    if not found:
        raise ReprlabError(f"{variant}: no collected states; delete the folder above and run again")
    return found


def read_layer(path: Path) -> np.ndarray:
    """A layer [N, d] as a read-only memory map.

    Raises:
        ReprlabError: the file is missing or no array.
    """
    import numpy as np

    try:
        return np.load(path, mmap_mode="r")
    except (OSError, ValueError) as error:
        raise_if_machine_is_short(error)
        raise ReprlabError(f"{path}: not a readable array ({error}); delete its folder and run again") from None
