"""The paired bootstrap: whether one system scores higher than another on the same units (Efron and Tibshirani 1993)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.evaluation.resampling import percentiles, resample_sums

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class PairedDifference:
    """First less second: the value, its interval over units, and the two-sided p of no difference."""

    value: float
    low: float
    high: float
    p: float


def paired_bootstrap(
    first: np.ndarray,
    second: np.ndarray,
    score: Callable[[np.ndarray], dict[str, np.ndarray]],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, PairedDifference]:
    """Differences of scores that are functions of sums over units; each resample draws the same units of both systems.

    p is twice the share of resamples whose difference is not on the side of the smaller count, one more counted above
    and below the line, so that it is never 0; without any difference it is 1.

    Args:
        first: [units, d] what of each unit adds up, of the system whose scores come first; row i of `second` is of the
            same unit.
        score: scores by name of sums [..., d].

    Raises:
        ReprlabError: there is no unit.
    """
    import numpy as np

    width = first.shape[1]
    sums = resample_sums(np.concatenate([first, second], axis=1), resamples, seed)
    drawn = [score(part) for part in (sums[:, :width], sums[:, width:])]
    whole = [score(table.sum(0)) for table in (first, second)]
    found = {}
    for name in whole[0]:
        gaps = drawn[0][name] - drawn[1][name]
        tail = (1 + min((gaps <= 0).sum(), (gaps >= 0).sum())) / (1 + resamples)
        bounds = percentiles(gaps, len(first))
        found[name] = PairedDifference(float(whole[0][name] - whole[1][name]), *bounds, min(1.0, 2 * float(tail)))
    return found
