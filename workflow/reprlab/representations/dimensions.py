"""Intrinsic dimension of collected states, layer by layer, also on subsets of the items."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.geometry.curves import NORMS, normalised_auc
from reprlab.geometry.estimation import Estimate, estimate_dimension
from reprlab.representations.files import layer_files, read_layer, variant_step
from reprlab.representations.settings import DimensionSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.progress import track

if TYPE_CHECKING:
    import numpy as np


def dimension_rows(variant: Path, settings: DimensionSettings, device: str) -> Iterator[dict[str, Any]]:
    """Rows of one variant: the metric `id` for each of its layers 1 to L, and areas under these curves.

    An area `auc_<norm>` has no layer, and its `n` is the largest number of points of a layer.

    Raises:
        ReprlabError: a subset is larger than the collection, or there are fewer than three layers.
    """
    import numpy as np
    import torch

    from reprlab.training.processes import choose_device

    halves = [one for one in settings.estimators if one.name in settings.draw_estimators]
    step = variant_step(variant.name)
    files = layer_files(variant)[1:]
    curves: dict[tuple[str, str], list[Estimate]] = defaultdict(list)
    for layer, path in enumerate(track(files, f"dimension of {variant.name}"), start=1):
        points = torch.from_numpy(np.array(read_layer(path))).to(choose_device(device))
        for name, rows in _item_sets(len(points), settings).items():
            used = halves if name.startswith("half ") else settings.estimators
            for found in estimate_dimension(points if rows is None else points[torch.from_numpy(rows)], used):
                curves[name, found.estimator].append(found)
                about = {"step": step, "layer": layer, "subset": name, "estimator": found.estimator}
                about |= {"metric": "id", "value": found.value, "n": found.n_used}
                yield about | {"spread": found.spread, "n_zero": found.n_zero}
    for (name, estimator), curve in curves.items():
        for norm in NORMS:
            about = {"step": step, "layer": math.nan, "subset": name, "estimator": estimator}
            about |= {"metric": f"auc_{norm}", "value": normalised_auc([one.value for one in curve], norm)}
            yield about | {"n": max(one.n_used for one in curve), "spread": math.nan, "n_zero": math.nan}


def _item_sets(count: int, settings: DimensionSettings) -> dict[str, np.ndarray | None]:
    """Items by the name of their set; None is all of them, in order."""
    import numpy as np

    sets: dict[str, np.ndarray | None] = {"all": None}
    for size in settings.subsets:
        if size > count:
            raise ReprlabError(f"a subset of {size} items was asked for and {count} were collected")
        sets[f"first {size}"] = np.arange(size)
    for draw in range(settings.draws):
        rng = np.random.Generator(np.random.Philox(key=[settings.seed, draw]))
        sets[f"half {draw}"] = np.sort(rng.permutation(count)[: count // 2])
    return sets
