"""Features of one model on the sample, as a sparse matrix on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.features.activations import inner_states
from reprlab.features.sample import TokenSample
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import scipy.sparse
    import torch

_ARRAYS, _RECORD = "features.npz", "features.json"
# Directions at once: it bounds the memory.
_ATOMS = 64


@dataclass(frozen=True)
class SparseFeatures:
    """`values` [positions, K] float32 in rows of positions, and the sample that it was made on."""

    values: scipy.sparse.csr_array
    sample: str

    def save(self, folder: Path) -> None:
        """Write into an existing folder."""
        import scipy.sparse

        scipy.sparse.save_npz(folder / _ARRAYS, self.values, compressed=False)
        write_json(folder / _RECORD, {"sample": self.sample, "shape": list(self.values.shape)})

    @classmethod
    def load(cls, folder: Path) -> SparseFeatures:
        """Open what `save` wrote.

        Raises:
            ReprlabError: it is missing or damaged.
        """
        import zipfile

        import scipy.sparse

        about = read_json(folder / _RECORD)
        try:
            values = scipy.sparse.csr_array(scipy.sparse.load_npz(folder / _ARRAYS))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ReprlabError(f"{folder}: not readable ({error}); delete it and run again") from None
        if list(values.shape) != about["shape"]:
            raise ReprlabError(f"{folder}: its values have another shape than it says; delete it and run again")
        return cls(values, str(about["sample"]))


def sample_features(
    model: Any,
    layer: int,
    sample: TokenSample,
    encode: Callable[[torch.Tensor], torch.Tensor],
    batch_blocks: int,
) -> SparseFeatures:
    """`encode`, [n, d] states to [n, K] features, of every position of the sample, blocks in order."""
    import scipy.sparse

    parts = [
        scipy.sparse.csr_array(encode(states).cpu().numpy()) for states in _states(model, layer, sample, batch_blocks)
    ]
    return SparseFeatures(scipy.sparse.csr_array(scipy.sparse.vstack(parts)), sample.identity)


def _states(model: Any, layer: int, sample: TokenSample, batch_blocks: int) -> Iterator[torch.Tensor]:
    """[n, d] inner states of the blocks of the sample, in order."""
    import torch

    model.eval()
    device = next(model.parameters()).device
    with torch.inference_mode():
        for first in range(0, len(sample.ids), batch_blocks):
            ids = torch.from_numpy(sample.ids[first : first + batch_blocks].astype(np.int64)).to(device)
            yield inner_states(model, layer, ids).flatten(0, 1)


def random_features(
    model: Any, layer: int, sample: TokenSample, like: SparseFeatures, seed: int, batch_blocks: int
) -> SparseFeatures:
    """Features of a dictionary that learnt nothing: directions drawn evenly, as many as `like` has.

    Feature j is what of its direction lies above a threshold, which is such that it fires on as many positions of the
    sample as feature j of `like`: the same number and density, one by one, but for
    positions of equal states, which fire together or not at all. One seed draws the same directions for
    every model of equal width.

    Args:
        like: learnt features of the same model on the same sample.

    Raises:
        ReprlabError: `like` was made on another sample.
    """
    import scipy.sparse

    if like.sample != sample.identity:
        raise ReprlabError(
            f"features of the sample {like.sample} say nothing of densities on the sample {sample.identity}: encode "
            "both on one sample"
        )
    states = np.concatenate([part.cpu().numpy() for part in _states(model, layer, sample, batch_blocks)])
    counts = np.bincount(like.values.indices, minlength=like.values.shape[1])
    drawn = np.random.Generator(np.random.Philox(key=seed)).standard_normal((len(counts), states.shape[1]))
    atoms = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    parts = []
    for start in range(0, len(counts), _ATOMS):
        fired = counts[start : start + _ATOMS]
        values = states @ atoms[start : start + _ATOMS].T
        values -= _thresholds(values, fired)
        parts.append(scipy.sparse.csr_array(np.maximum(values, 0, out=values)))
    return SparseFeatures(scipy.sparse.csr_array(scipy.sparse.hstack(parts)), sample.identity)


def _thresholds(values: np.ndarray, fired: np.ndarray) -> np.ndarray:
    """[K] the number above which so many of each column's values [n, K] lie: the next lower one, or less than all."""
    ordered = -np.sort(-values, axis=0)
    lowest = ordered[-1] - np.abs(ordered[-1]) * 1e-3 - 1e-6
    found = np.concatenate([ordered, lowest[None]])[fired, np.arange(values.shape[1])]
    return found.astype(values.dtype)
