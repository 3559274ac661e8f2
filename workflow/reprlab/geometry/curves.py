"""Area under a curve of intrinsic dimension over the layers of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from reprlab.runtime.errors import ReprlabError

Norm = Literal["paper", "upstream", "upstream_heatmap"]
NORMS: tuple[Norm, ...] = get_args(Norm)


def normalised_auc(dimensions: Sequence[float], norm: Norm = "paper") -> float:
    """Area by trapezoids over the L layers of a model, the embedding layer not among them.

    `paper` (section 3.3, equation of the normalised AUC) divides by L, so that a constant curve c gives c (L - 1) / L;
    `upstream` (the authors' figures) divides by L - 1 and gives c; `upstream_heatmap` (their heat map) drops the first
    layer once more and divides by L.

    Raises:
        ReprlabError: fewer than three layers.
    """
    layers = len(dimensions)
    if layers < 3:
        raise ReprlabError(f"the area under a curve needs at least 3 layers, got {layers}")
    curve = list(dimensions[1:] if norm == "upstream_heatmap" else dimensions)
    area = sum(curve) - (curve[0] + curve[-1]) / 2
    return area / (layers - 1 if norm == "upstream" else layers)
