"""Features of one model on the sample, as a sparse matrix on disk."""

from __future__ import annotations

from collections.abc import Callable
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
    import torch

    model.eval()
    device = next(model.parameters()).device
    parts = []
    with torch.inference_mode():
        for first in range(0, len(sample.ids), batch_blocks):
            ids = torch.from_numpy(sample.ids[first : first + batch_blocks].astype(np.int64)).to(device)
            states = inner_states(model, layer, ids).flatten(0, 1)
            parts.append(scipy.sparse.csr_array(encode(states).cpu().numpy()))
    return SparseFeatures(scipy.sparse.csr_array(scipy.sparse.vstack(parts)), sample.identity)
