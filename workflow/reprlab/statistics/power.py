"""How small an effect a run can decide: what it would support in four runs of five, by the spread of a former run."""

from __future__ import annotations

import math

from reprlab.statistics.estimates import ALL_THERE_IS, LEVEL, Estimate, few_seeds, t_quantile

POWER = 0.8


def smallest_supported(units: int, *, level: float = LEVEL, power: float = POWER) -> float:
    """The distance from a rule's bound, in standard errors, that is supported in a share `power` of runs.

    Student's t over `units`: the noncentrality at which the interval's near end lies beyond the bound that often. It is
    2.80 for many units, 3.27 for eight, 4.26 for four and 16.3 for two. NaN below two units.
    """
    if units < 2:
        return math.nan
    from scipy.optimize import brentq
    from scipy.stats import nct

    degrees, bound = units - 1, t_quantile(units - 1, level)
    return float(brentq(lambda effect: nct.sf(bound, degrees, effect) - power, 0.0, 4 * bound + 4))


def decided_effect(estimate: Estimate, units: int | None = None) -> float:
    """The smallest effect that a run would support in four of five, in the estimate's unit, from its interval's reach.

    The effect is the distance of the statistic from the bound of the rule. It holds of intervals over units that are
    drawn: of counts, and of other bounds that no sampling made, it is NaN, as it is of too few units to judge.

    Args:
        estimate: of a former run, with its interval.
        units: that the planned run has; none: as many as the former.
    """
    reach, known = (estimate.high - estimate.low) / 2, estimate.n
    planned = known if units is None else units
    drawn = reach > 0 and known > 1 and not estimate.method.startswith(ALL_THERE_IS)
    if not drawn or planned < 2 or few_seeds(estimate.unit, planned):
        return math.nan
    error = reach / t_quantile(known - 1) * math.sqrt(known / planned)
    return smallest_supported(planned) * error
