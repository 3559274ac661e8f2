"""Scores of predictions, all in percent, each example counted once.

Every metric is a function of sums of per-example statistics, so that `bootstrap` can resample it without a loop. The
values themselves come from scikit-learn, scipy and rouge-score.

A predicted text that is not a label is wrong, whatever the gold label is: accuracy counts an error, F1 a miss of
the gold label and as a hit of none, and Matthews correlation as one further class that no example belongs to (the
statistic of K classes: Gorodkin 2004, equation 8). It is not the opposite answer: a model that never says a label has a
correlation of 0, as one that always says the same. Upstream of DEPTH draws a random wrong label, which of two labels is
the opposite one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from reprlab.evaluation.entities import entity_counts
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import numpy as np

Statistics = Callable[[Sequence[Any], Sequence[Any], Sequence[str]], "np.ndarray"]
# What is not a label, as a class: no label has this name.
_OUTSIDE = "\x00"
Finish = Callable[["np.ndarray"], "np.ndarray"]


@dataclass(frozen=True)
class Metric:
    """One score: what its gold values are, its per-example statistics [n, d], the score from their sums [..., d], and,
    where a library computes it, the library's value on a whole set."""

    name: str
    needs: Literal["labels", "numbers", "texts", "tags"]
    statistics: Statistics
    finish: Finish
    library: Callable[[Sequence[Any], Sequence[Any], Sequence[str]], float] | None = None

    def value(self, gold: Sequence[Any], predicted: Sequence[Any], labels: Sequence[str] = ()) -> float:
        """The score on a set, in percent."""
        if self.library is not None:
            return float(self.library(gold, predicted, labels))
        return float(self.finish(self.statistics(gold, predicted, labels).sum(0)))


def get_metric(name: str) -> Metric:
    """The metric of that name.

    Raises:
        ReprlabError: no such metric.
    """
    if name not in METRICS:
        raise ReprlabError(f"metric {name!r}: unknown; one of {', '.join(METRICS)}")
    return METRICS[name]


def score(name: str, gold: Sequence[Any], predicted: Sequence[Any], labels: Sequence[str] = ()) -> float:
    """Score `predicted` against `gold` (same length, one entry per example), in percent.

    `gold` holds labels (accuracy, matthews, f1, macro_f1), numbers (pearson, spearman), lists of accepted texts
    (rouge_l, exact_match) or lists of tags (tag_accuracy, tag_f1). A correlation that is undefined (a constant
    prediction) is 0.

    Raises:
        ReprlabError: unknown metric, lengths that differ, no example, or a gold label outside `labels`.
    """
    metric = get_metric(name)
    if len(gold) != len(predicted):
        raise ReprlabError(f"{name}: {len(gold)} gold values but {len(predicted)} predictions")
    if not len(gold):
        raise ReprlabError(f"{name}: there is no example to score; check the split and eval_limit")
    if metric.needs == "labels" and labels:
        require_labels(gold, labels, name)
    return metric.value(gold, predicted, labels)


def require_labels(values: Sequence[str], labels: Sequence[str], where: str) -> None:
    """Raise a `ReprlabError` naming the first value that is not one of `labels`."""
    allowed = set(labels)
    for row, value in enumerate(values):
        if value not in allowed:
            raise ReprlabError(f"{where}: row {row} has label {value!r}, expected one of {', '.join(labels)}")


def require_values(metric: Metric, gold: Sequence[Any]) -> None:
    """Raise a `ReprlabError` where gold values are not of the kind that the metric is for."""
    kinds: dict[str, Any] = {"labels": str, "numbers": (int, float), "texts": (list, tuple), "tags": (list, tuple)}
    if len(gold) and not isinstance(gold[0], kinds[metric.needs]):
        raise ReprlabError(f"metric {metric.name!r} needs {metric.needs}; choose another in the setting metrics")


def outside_share(predicted: Sequence[str], labels: Sequence[str]) -> float:
    """Share of predictions that are not among `labels`."""
    return sum(answer not in set(labels) for answer in predicted) / max(len(predicted), 1)


def rouge_l(targets: Sequence[Sequence[str]], predicted: Sequence[str]) -> list[float]:
    """ROUGE-L F-measure with stemmer in [0, 1] for each prediction: the best over its accepted texts."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return [
        max(scorer.score(target, text)["rougeL"].fmeasure for target in accepted)
        for accepted, text in zip(targets, predicted, strict=True)
    ]


def _array(values: Any) -> np.ndarray:
    import numpy as np

    return np.asarray(values, dtype=np.float64)


def _accuracy(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> float:
    from sklearn.metrics import accuracy_score

    return 100 * accuracy_score(list(gold), list(predicted))


def _hits(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    return _array([[g == p, 1.0] for g, p in zip(gold, predicted, strict=True)])


def _inside(predicted: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The predictions, all that are not among `labels` (if there are any) as one class."""
    return [answer if not labels or answer in labels else _OUTSIDE for answer in predicted]


def _matthews(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> float:
    from sklearn.metrics import matthews_corrcoef

    answers = _inside(predicted, labels)
    # Where all gold labels or all predictions agree it is 0 by definition; scikit-learn warns about that.
    if len(set(gold)) < 2 or len(set(answers)) < 2:
        return 0.0
    return 100 * matthews_corrcoef(list(gold), answers)


def _cells(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    """One-hot cells of the confusion matrix, [n, (K+1)^2], row = gold; the last class is that of all other texts."""
    import numpy as np

    names = list(labels) or sorted(set(gold) | set(predicted))
    place = {label: number for number, label in enumerate(names)}
    size = len(names) + 1
    cell = [place[g] * size + place.get(p, len(names)) for g, p in zip(gold, predicted, strict=True)]
    one_hot = np.zeros((len(cell), size**2))
    one_hot[np.arange(len(cell)), cell] = 1.0
    return one_hot


def _confusion(sums: np.ndarray) -> np.ndarray:
    size = round(sums.shape[-1] ** 0.5)
    return sums.reshape(*sums.shape[:-1], size, size)


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _finish_matthews(sums: np.ndarray) -> np.ndarray:
    import numpy as np

    table = _confusion(sums)
    rows, columns, total = table.sum(-1), table.sum(-2), table.sum((-1, -2))
    covariance = total * np.trace(table, axis1=-2, axis2=-1) - (rows * columns).sum(-1)
    scale = np.sqrt((total**2 - (rows**2).sum(-1)) * (total**2 - (columns**2).sum(-1)))
    return 100 * _ratio(covariance, scale)


def _label_f1(sums: np.ndarray) -> np.ndarray:
    """F1 of each label [..., K]."""
    import numpy as np

    table = _confusion(sums)
    return _ratio(2 * np.diagonal(table, axis1=-2, axis2=-1), table.sum(-1) + table.sum(-2))[..., :-1]


def _f1(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> float:
    from sklearn.metrics import f1_score

    if len(labels) != 2:
        raise ReprlabError(
            f"metric f1 is for two labels (the last is the positive one), not {len(labels)}; use macro_f1"
        )
    # The average over this one label: the binary form refuses a prediction that is not one of the two.
    return 100 * f1_score(list(gold), list(predicted), labels=[labels[-1]], average="macro", zero_division=0.0)


def _macro_f1(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> float:
    from sklearn.metrics import f1_score

    names = list(labels) or sorted(set(gold) | set(predicted))
    return 100 * f1_score(list(gold), list(predicted), labels=names, average="macro", zero_division=0.0)


def _pearson(gold: Sequence[float], predicted: Sequence[float], labels: Sequence[str]) -> float:
    import numpy as np
    from scipy.stats import pearsonr

    if len(gold) < 2 or np.ptp(_array(gold)) == 0 or np.ptp(_array(predicted)) == 0:
        return 0.0
    return 100 * float(pearsonr(gold, predicted).statistic)


def _spearman(gold: Sequence[float], predicted: Sequence[float], labels: Sequence[str]) -> float:
    from scipy.stats import rankdata

    return _pearson(rankdata(gold), rankdata(predicted), labels)


def _moments(gold: Sequence[float], predicted: Sequence[float], labels: Sequence[str]) -> np.ndarray:
    import numpy as np

    x, y = _array(gold), _array(predicted)
    x, y = x - x.mean(), y - y.mean()
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)


def _rank_moments(gold: Sequence[float], predicted: Sequence[float], labels: Sequence[str]) -> np.ndarray:
    # Resamples keep the ranks of the whole sample: the usual approximation, and it needs no sort per resample.
    from scipy.stats import rankdata

    return _moments(rankdata(gold), rankdata(predicted), labels)


def _finish_correlation(sums: np.ndarray) -> np.ndarray:
    import numpy as np

    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    scale = np.sqrt(np.maximum(n * xx - x * x, 0) * np.maximum(n * yy - y * y, 0))
    return 100 * _ratio(n * xy - x * y, scale)


def _rouge_statistics(gold: Sequence[Sequence[str]], predicted: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    return _array([[value, 1.0] for value in rouge_l(gold, predicted)])


def _exact(gold: Sequence[Sequence[str]], predicted: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    return _array([[text in accepted, 1.0] for accepted, text in zip(gold, predicted, strict=True)])


def _mean(sums: np.ndarray) -> np.ndarray:
    return 100 * _ratio(sums[..., 0], sums[..., 1])


def _flatten(sequences: Sequence[Sequence[str]]) -> list[str]:
    return [tag for sequence in sequences for tag in sequence]


def _tag_hits(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], labels: Sequence[str]) -> np.ndarray:
    return _array([[sum(map(str.__eq__, g, p)), len(g)] for g, p in zip(gold, predicted, strict=True)])


def _tag_matches(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], labels: Sequence[str]
) -> np.ndarray:
    def counts(g: Sequence[str], p: Sequence[str]) -> list[int]:
        right = sum(a == b != "O" for a, b in zip(g, p, strict=True))
        return [2 * right, sum(a != "O" for a in g) + sum(b != "O" for b in p)]

    return _array([counts(g, p) for g, p in zip(gold, predicted, strict=True)])


def _entities(right: int, gold: int, predicted: int) -> Callable[..., np.ndarray]:
    """`right` times what is right, over this many times the entities of the gold and of the prediction."""

    def counts(truth: Sequence[Sequence[str]], answers: Sequence[Sequence[str]], labels: Sequence[str]) -> np.ndarray:
        found = entity_counts(truth, answers)
        return _array([[right * both, gold * true + predicted * said] for both, true, said in found])

    return counts


def _tag_accuracy(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], labels: Sequence[str]) -> float:
    return _accuracy(_flatten(gold), _flatten(predicted), labels)


def _tag_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], labels: Sequence[str]) -> float:
    from sklearn.metrics import f1_score

    g, p = _flatten(gold), _flatten(predicted)
    names = sorted((set(g) | set(p)) - {"O"})
    return 100 * f1_score(g, p, labels=names, average="micro", zero_division=0.0) if names else 0.0


METRICS = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "labels", _hits, _mean, _accuracy),
        Metric("matthews", "labels", _cells, _finish_matthews, _matthews),
        Metric("f1", "labels", _cells, lambda sums: 100 * _label_f1(sums)[..., -1], _f1),
        Metric("macro_f1", "labels", _cells, lambda sums: 100 * _label_f1(sums).mean(-1), _macro_f1),
        Metric("pearson", "numbers", _moments, _finish_correlation, _pearson),
        Metric("spearman", "numbers", _rank_moments, _finish_correlation, _spearman),
        Metric("rouge_l", "texts", _rouge_statistics, _mean),
        Metric("exact_match", "texts", _exact, _mean),
        Metric("tag_accuracy", "tags", _tag_hits, _mean, _tag_accuracy),
        Metric("tag_f1", "tags", _tag_matches, _mean, _tag_f1),
        Metric("entity_f1", "tags", _entities(2, 1, 1), _mean),
        Metric("entity_precision", "tags", _entities(1, 0, 1), _mean),
        Metric("entity_recall", "tags", _entities(1, 1, 0), _mean),
    )
}
