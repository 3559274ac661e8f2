"""Estimates, intervals, rules and standing: how everything here is judged (docs/statistics.md).

verdict = judge(difference_over_pairs(tuned, base, "data set"), ABOVE_ZERO)
"""

from reprlab.statistics.correlations import correlation, mean_correlation, rank_correlation, slope
from reprlab.statistics.deviations import ratio_of_deviations
from reprlab.statistics.estimates import (
    FEWEST_SEEDS,
    Estimate,
    contrast,
    largest_of,
    least_of,
    mean_of_shared,
    no_interval,
    over_seeds,
    within,
)
from reprlab.statistics.halves import correlation_over_halves, over_halves
from reprlab.statistics.means import (
    difference_of_groups,
    difference_over_pairs,
    mean_over_crossed,
    mean_over_units,
    ratio_difference,
    ratio_over_units,
)
from reprlab.statistics.proportions import proportion, share_of_signs
from reprlab.statistics.rules import (
    ABOVE_ZERO,
    BELOW_ZERO,
    INCONCLUSIVE,
    NOT_SUPPORTED,
    SUPPORTED,
    Rule,
    Verdict,
    count_exactly,
    every_unit,
    judge,
)
from reprlab.statistics.standing import ABOVE, NOT_ABOVE, Score, Standing, standing

__all__ = [
    "ABOVE",
    "ABOVE_ZERO",
    "BELOW_ZERO",
    "FEWEST_SEEDS",
    "INCONCLUSIVE",
    "NOT_ABOVE",
    "NOT_SUPPORTED",
    "SUPPORTED",
    "Estimate",
    "Rule",
    "Score",
    "Standing",
    "Verdict",
    "contrast",
    "correlation",
    "correlation_over_halves",
    "count_exactly",
    "difference_of_groups",
    "difference_over_pairs",
    "every_unit",
    "judge",
    "largest_of",
    "least_of",
    "mean_correlation",
    "mean_of_shared",
    "mean_over_crossed",
    "mean_over_units",
    "no_interval",
    "over_halves",
    "over_seeds",
    "proportion",
    "rank_correlation",
    "ratio_difference",
    "ratio_of_deviations",
    "ratio_over_units",
    "share_of_signs",
    "slope",
    "standing",
    "within",
]
