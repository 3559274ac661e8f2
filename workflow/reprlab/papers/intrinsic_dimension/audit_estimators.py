"""Checks 5.1 to 5.7: the estimators on fixtures with known answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reprlab.geometry.curves import normalised_auc
from reprlab.geometry.estimation import estimate_dimension
from reprlab.geometry.estimators import gride, levina_bickel, two_nn
from reprlab.geometry.neighbours import nearest_distances
from reprlab.geometry.settings import Duplicates, EstimatorSettings
from reprlab.reporting.audit import AuditRow, judge

if TYPE_CHECKING:
    import torch

_NOTE = "known answer in float64; nothing is printed"
_CLOUDS = {2: (1.991039, 1.979779, 1.975447), 5: (4.723459, 4.736761, 4.437754), 20: (15.655411, 15.543271, 13.849029)}
_HIGH = {10: 8.200759, 50: 32.094607}
_GRIDE = {1: 4.7368, 2: 4.6817, 4: 4.5097, 8: 4.4468, 16: 4.3402, 32: 4.1957}
_BY_COUNT = {250: 13.651, 500: 14.795, 1000: 14.793, 2000: 15.655, 5000: 15.555}
_TWINS = {0: (4.723, 4.723), 20: (4.541, 4.689), 100: (3.207, 4.772), 200: (0.095, 4.835), 400: (0.070, 4.728)}
_BICKEL = {5: 1.2271076099, 10: 1.1361572980, 50: 1.0398234708}


def exact_ratios() -> Iterator[AuditRow]:
    """5.1"""
    import torch

    count = 1000
    share = torch.arange(1, count, dtype=torch.float64) / count
    for dimension in (1.0, 2.0, 7.5, 20.0):
        second = (1 - share) ** (-1 / dimension)
        second = torch.cat([second, 2 * second[-1:]])
        found = two_nn(torch.stack([torch.ones(count, dtype=torch.float64), second], 1)).value
        yield _row(f"TwoNN on exact ratios of dimension {dimension:g}", dimension, found, 1e-10)


def exact_distances() -> Iterator[AuditRow]:
    """5.2"""
    import torch

    for k, constant in _BICKEL.items():
        distances = ((torch.arange(1, k + 1, dtype=torch.float64) / k) ** 0.5)[None]
        found = levina_bickel(distances, k).value / 2
        yield _row(f"Levina-Bickel on exact distances, k = {k}: bias factor", constant, found, 1e-9)


def uniform_clouds() -> Iterator[AuditRow]:
    """5.3"""
    estimators = [
        EstimatorSettings(name="two_nn", kind="two_nn"),
        EstimatorSettings(name="two_nn_ml", kind="two_nn_ml"),
        EstimatorSettings(name="levina_bickel_50", kind="levina_bickel"),
    ]
    for dimension, known in _CLOUDS.items():
        for found, value in zip(estimate_dimension(_cloud(dimension), estimators), known, strict=True):
            yield _row(f"{found.estimator} on U(0,1)^{dimension}", value, found.value, 1e-4)
    note = f"{_NOTE}; high dimensions are underestimated"
    for dimension, value in _HIGH.items():
        yield _row(f"TwoNN on U(0,1)^{dimension}", value, _value(_cloud(dimension)), 1e-4, note)


def scales() -> Iterator[AuditRow]:
    """5.4"""
    distances = nearest_distances(_cloud(5), 64)
    for rank, known in _GRIDE.items():
        found = gride(distances, rank, 2 * rank).value
        yield _row(f"GRIDE on U(0,1)^5, ranks {rank} and {2 * rank}", known, found, 1e-4)


def number_of_points() -> Iterator[AuditRow]:
    """5.5"""
    points, note = (
        _cloud(20, 5000),
        f"{_NOTE}; estimates of 1000 training and 5000 validation prompts do not compare (T6)",
    )
    for count, known in _BY_COUNT.items():
        yield _row(f"TwoNN on U(0,1)^20, first {count} points", known, _value(points[:count]), 1e-3, note)


def duplicates() -> Iterator[AuditRow]:
    """5.6"""
    for copied, (upstream, dropped) in _TWINS.items():
        points = _cloud(5)
        points[:copied] = points[copied : 2 * copied].clone()
        rules: tuple[tuple[Duplicates, float], ...] = (("upstream", upstream), ("drop", dropped))
        for rule, known in rules:
            yield _row(f"TwoNN on U(0,1)^5 with {copied} twins, rule {rule}", known, _value(points, rule), 1e-3)


def constant_curve() -> Iterator[AuditRow]:
    """5.7"""
    curve, what = [1.0] * 32, "AUC of a constant curve of 1, 32 layers"
    yield _row(f"{what}, the paper's equation", 31 / 32, normalised_auc(curve), 0)
    note = "divides by L - 1, not by L as printed (T4)"
    yield _row(f"{what}, the authors' figures", 1.0, normalised_auc(curve, "upstream"), 1e-15, note)
    note = "drops the first layer a second time (T4)"
    yield _row(f"{what}, the authors' heat map", 30 / 32, normalised_auc(curve, "upstream_heatmap"), 1e-15, note)


def _row(what: str, known: float, found: float, tolerance: float, note: str = _NOTE) -> AuditRow:
    return judge("", what, f"{known:.10g}", f"{found:.10g}", abs(known - found) <= tolerance, note)


def _cloud(dimension: int, count: int = 2000) -> torch.Tensor:
    import numpy as np
    import torch

    return torch.tensor(np.random.default_rng(0).random((count, dimension)))


def _value(points: torch.Tensor, duplicates: Duplicates = "drop") -> float:
    settings = EstimatorSettings(name="two_nn", kind="two_nn", duplicates=duplicates)
    return estimate_dimension(points, [settings])[0].value
