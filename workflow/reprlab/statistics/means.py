"""Means and differences of means over units: t where they are alike, over the outer ones where they are nested."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from reprlab.statistics.estimates import (
    LEVEL,
    Estimate,
    contrast,
    few_seeds,
    known,
    no_interval,
    t_interval,
    t_quantile,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike


def mean_over_units(values: ArrayLike, unit: str, *, groups: ArrayLike | None = None, level: float = LEVEL) -> Estimate:
    """Mean of values with Student's interval over units.

    Args:
        values: [m], one number a unit; NaN is left out.
        unit: what one unit is, in the singular ("seed", "data set"): the name of the outer unit where there are groups.
        groups: [m], the outer unit of each value, where values are nested (checkpoints of a pair, examples of a seed,
            layers of a model). Every outer unit weighs the same, and only they are counted.
    """
    units = known(values) if groups is None else _group_means(values, groups)
    return t_interval(float(units.mean()) if len(units) else math.nan, units, unit, level)


def mean_over_crossed(values: ArrayLike, groups: Mapping[str, ArrayLike], *, level: float = LEVEL) -> Estimate:
    """Mean of values that belong to two kinds of unit at once, as scores of every model on every data set.

    The interval has the reaches of both kinds of unit, as a root of squares. A kind with one unit only, or with too few
    seeds, says nothing and is left out: the note names it. `n` is the smaller number of units.

    Args:
        values: [m]; NaN is left out.
        groups: name of a kind of unit to the unit of each value [m].
    """
    found = [mean_over_units(values, name, groups=labels, level=level) for name, labels in groups.items()]
    several = [one for one in found if one.n > 1]
    several = [one for one in several if not few_seeds(one.unit, one.n)] or several or found
    left = [one for one in found if one.n == 1 or one not in several]
    notes = [f"these {one.n} {one.unit}s" if one.n > 1 else f"one {one.unit}" for one in left]
    if len(several) == 1:
        return replace(several[0], note="; ".join([several[0].note, *notes]).strip("; "))
    plain, n, unit = known(values), min(one.n for one in several), " and ".join(one.unit for one in several)
    value = float(plain.mean()) if len(plain) else math.nan
    # Units of one kind that are all alike add nothing, as long as those of another differ.
    reaches = [one.high - one.value for one in several if not math.isnan(one.low)]
    if not reaches:
        return no_interval(value, n, unit, several[0].note)
    reach, counts = math.hypot(*reaches), ", ".join(f"{one.n} units ({one.unit})" for one in several)
    method = f"t over each kind of unit, reaches as a root of squares: {counts}, {level:.0%}"
    return Estimate(value, value - reach, value + reach, n, unit, method, "; ".join(notes))


def difference_over_pairs(
    first: ArrayLike, second: ArrayLike, unit: str, *, groups: ArrayLike | None = None, level: float = LEVEL
) -> Estimate:
    """Mean of `first` minus `second`, paired: element i of both is of the same unit (seed, data set, example).

    Right and wrong answers (0 and 1) of examples are compared by those that differ (see `proportions`); anything else
    by t over the differences. Pairs with a NaN are left out.

    Args:
        first: [m]
        second: [m]
        unit: what one pair is.
        groups: [m], the outer unit of each pair, as in `mean_over_units`.

    Raises:
        ValueError: the lengths differ.
    """
    import numpy as np

    from reprlab.statistics.proportions import difference_of_answers

    one, two = (np.asarray(side, dtype=np.float64).ravel() for side in (first, second))
    if len(one) != len(two):
        raise ValueError(f"{len(one)} and {len(two)} values are not pairs")
    if groups is None and len(one) and np.isin(np.concatenate([one, two]), (0.0, 1.0)).all():
        return difference_of_answers(one, two, unit, level)
    return mean_over_units(one - two, unit, groups=groups, level=level)


def difference_of_groups(first: ArrayLike, second: ArrayLike, unit: str, *, level: float = LEVEL) -> Estimate:
    """Mean of `first` minus mean of `second`, units of both drawn independently.

    The wider of Welch's and the pooled t: few units of unlike number make the first too short, unlike spreads the
    second. Where one side has a single unit, its spread is taken to be the other's. `n` is the smaller number of units.

    Args:
        first: [m], one number a unit.
        second: [k].
        unit: what one unit is.
    """
    sides = [known(side) for side in (first, second)]
    n = [len(side) for side in sides]
    value = float(sides[0].mean() - sides[1].mean()) if min(n) else math.nan
    if min(n) < 1 or max(n) < 2:
        return no_interval(value, min(n), unit, f"units: {n[0]} and {n[1]} ({unit}), 2 of one side are needed")
    squares = [float(((side - side.mean()) ** 2).sum()) for side in sides]
    if sum(squares) < 1e-24:
        return no_interval(value, min(n), unit, f"no spread in {n[0]} and {n[1]} units ({unit})")
    reach = t_quantile(sum(n) - 2, level) * math.sqrt(sum(squares) / (sum(n) - 2) * (1 / n[0] + 1 / n[1]))
    if min(n) > 1:
        parts = [square / (count - 1) / count for square, count in zip(squares, n, strict=True)]
        degrees = sum(parts) ** 2 / sum(part**2 / (count - 1) for part, count in zip(parts, n, strict=True))
        reach = max(reach, t_quantile(degrees, level) * math.sqrt(sum(parts)))
    method = f"t over {n[0]} and {n[1]} units ({unit}), {level:.0%}"
    return Estimate(value, value - reach, value + reach, min(n), unit, method)


def ratio_over_units(numerators: ArrayLike, denominators: ArrayLike, unit: str, *, level: float = LEVEL) -> Estimate:
    """sum(numerators) / sum(denominators), as a loss a token over batches; t over the linearised units.

    A unit contributes its residual (numerator - ratio x denominator) / mean denominator (Cochran 1977, section 2.11).
    A share that is 0 or 1 in every unit has no residuals: it gets the exact interval of what was counted.

    Args:
        numerators: [n], one sum a unit.
        denominators: [n], what each sum counts; units that count nothing are left out, unless their numerator is not 0
            (words that are inserted where nothing was said are errors).
        unit: what one unit is; where batches belong to several seeds, sum them by seed and pass the seeds.
    """
    from reprlab.statistics.proportions import proportion

    over, under, value = _ratio(numerators, denominators)
    if len(over) and (not over.any() or (over == under).all()):
        counted = round(float(under.sum()))
        share = proportion(counted if over.any() else 0, counted, unit, level=level)
        return replace(share, n=len(over), method=f"exact binomial of {counted} counted in {len(over)} units ({unit})")
    return t_interval(value, _linearised(over, under, value), unit, level)


def ratio_difference(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    unit: str,
    *,
    paired: bool,
    level: float = LEVEL,
) -> Estimate:
    """Difference of two such ratios, each given as (numerators, denominators), first minus second.

    Args:
        first: two arrays [n].
        second: two arrays [n] where paired, else of any length.
        unit: what one unit is.
        paired: unit i of both is the same batch (or seed).
    """
    if not paired:
        return contrast([ratio_over_units(*side, unit, level=level) for side in (first, second)], (1.0, -1.0))
    import numpy as np

    arrays = [np.asarray(side, dtype=np.float64) for side in (*first, *second)]
    # A pair is left out where either side counts nothing and has nothing.
    kept = ((arrays[1] > 0) | (arrays[0] > 0)) & ((arrays[3] > 0) | (arrays[2] > 0))
    one, two = (_ratio(arrays[k][kept], arrays[k + 1][kept]) for k in (0, 2))
    return t_interval(one[2] - two[2], _linearised(*one) - _linearised(*two), unit, level)


def _ratio(numerators: ArrayLike, denominators: ArrayLike) -> tuple[np.ndarray, np.ndarray, float]:
    import numpy as np

    over, under = (np.asarray(side, dtype=np.float64).ravel() for side in (numerators, denominators))
    kept = (under > 0) | (over > 0)
    over, under = over[kept], under[kept]
    return over, under, float(over.sum() / under.sum()) if under.sum() > 0 else math.nan


def _linearised(over: np.ndarray, under: np.ndarray, value: float) -> np.ndarray:
    return value + (over - value * under) / under.mean() if under.sum() > 0 else under[:0]


def _group_means(values: ArrayLike, groups: ArrayLike) -> np.ndarray:
    import numpy as np

    array, labels = np.asarray(values, dtype=np.float64).ravel(), np.asarray(groups)
    kept = ~np.isnan(array)
    _, place, counts = np.unique(labels[kept], return_inverse=True, return_counts=True)
    return np.bincount(place, array[kept], len(counts)) / counts
