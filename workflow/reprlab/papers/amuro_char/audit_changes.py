"""Table 6 and the mean ratios of change from the released values, by the aggregator that our own scores go through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from reprlab.papers.amuro_char.aggregate import changes, group_means, mean_ratio, released_frame
from reprlab.papers.amuro_char.names import CLASS_TO_GEN, mrc_pairs, table6_pairs
from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given

_GROUPS = ("learned_in_pretrain", "learned_in_finetune")
_DIGITS = 9


def _released(given: Given) -> Any:
    return released_frame(given.tables["released_performance"])


def _changes(given: Given, direction: str) -> Any:
    return changes(_released(given), mrc_pairs(given.settings.groups)[direction])


def _table6(given: Given) -> Any:
    """Our group means at three decimals, by checkpoint; `once` counts each set once."""
    groups = table6_pairs(given.settings.groups)
    groups["once"] = list(dict.fromkeys(groups[_GROUPS[0]]))
    # Means of values with four decimals: digits beyond the ninth are floating-point noise.
    means = group_means(_released(given), groups).set_index("ckpt")[list(groups)]
    return means.map(lambda value: rounded(round(float(value), _DIGITS), 3))


def table6(given: Given) -> Iterator[Found]:
    means = _table6(given)
    for ckpt, row in given.tables["table6_perf_diff"].set_index("ckpt")[list(_GROUPS)].iterrows():
        ours = [means.loc[ckpt, name] for name in _GROUPS]
        yield found(" ".join(map(str, ours)), list(row.map(Decimal)) == ours, ckpt=ckpt, printed=" ".join(row))


def counted_once(given: Given) -> Found:
    printed = given.tables["table6_perf_diff"].set_index("ckpt")[_GROUPS[0]]
    once = _table6(given)["once"].loc[printed.index]
    stay = int((printed.map(Decimal) == once).sum())
    texts = {"printed": " ".join(printed), "stay": stay, "total": len(once)}
    return found(" ".join(map(str, once)), stay == len(once), **texts)


def ratio(given: Given, *, direction: str) -> Found:
    """5.2: the mean ratio of change, in percent."""
    mean = mean_ratio(_changes(given, direction))
    return found(Decimal(100 * mean.mean), n=mean.n, skipped=mean.skipped)


def without_outlier(given: Given) -> Found:
    """5.2: without the largest ratio."""
    all_of_them = _changes(given, CLASS_TO_GEN)
    largest = all_of_them.loc[all_of_them["ratio"].idxmax()]
    mean = mean_ratio(all_of_them.drop(index=largest.name))
    median = 100 * mean_ratio(all_of_them).median
    return found(rounded(100 * mean.mean, 1), one=largest, total=len(all_of_them), median=median)


def equation_1(given: Given) -> Found:
    """8.4: the sets that equation 1 averages over against those whose mean is the printed one (5.2a)."""
    settings = given.settings
    averaged = Counter(pair.train for pairs in mrc_pairs(settings.groups).values() for pair in pairs)
    # Evaluation sets of all four tasks; the training set itself is every evaluation of the same data set.
    tasks = [settings.trainings[train] for train in averaged]
    sets = {name for task in tasks for name in (*task.in_domain, *task.out_of_domain)}
    others = {
        train: sum(settings.evaluations[name].dataset != settings.trainings[train].dataset for name in sets)
        for train in averaged
    }
    mean = mean_ratio(_changes(given, CLASS_TO_GEN))
    texts = {"others": _listed(others), "n": mean.n, "mean": 100 * mean.mean, "direction": CLASS_TO_GEN}
    return found(_listed(averaged), others == averaged, **texts)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
