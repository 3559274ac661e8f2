"""Evidence of a Bayesian linear model on frozen features: LogME (You et al. 2021), exact in one variable."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Bounds of the logarithm of the ratio of the precisions; beyond them the evidence no longer moves.
_RATIO = (-25.0, 25.0)


def log_evidence(features: ArrayLike, targets: ArrayLike) -> float:
    """Largest log evidence of targets under y = F w + e, nats a target, mean over the columns.

    w has precision a, e precision b, both the most likely ones of each column: log N(y; 0, I / b + F F' / a). Of the
    ratio t = a / b the best b has a closed form, so that one variable is searched.

    Args:
        features: [n, d] F.
        targets: [n] or [n, k].
    """
    import numpy as np
    from scipy.optimize import minimize_scalar

    matrix, wanted = np.asarray(features, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    count = len(matrix)
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    squares = values**2
    found = []
    for column in wanted.reshape(count, -1).T:
        inside = (left.T @ column) ** 2
        # What no combination of features can give; rounding must not make it negative.
        outside = max(float(column @ column - inside.sum()), 0.0)

        def negative(log_ratio: float, inside: np.ndarray = inside, outside: float = outside) -> float:
            spread = 1 + squares / math.exp(log_ratio)
            error = max(float((inside / spread).sum()) + outside, np.finfo(float).tiny)
            constant = math.log(2 * math.pi * error / count) + 1
            return 0.5 * (count * constant + float(np.log(spread).sum()))

        found.append(-float(minimize_scalar(negative, bounds=_RATIO, method="bounded").fun) / count)
    return float(np.mean(found))
