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

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NOTE = "known answer in float64; nothing is printed"
_CLOUDS = {2: (1.991039, 1.979779, 1.975447), 5: (4.723459, 4.736761, 4.437754), 20: (15.655411, 15.543271, 13.849029)}
_GRIDE = {1: 4.7368, 2: 4.6817, 4: 4.5097, 8: 4.4468, 16: 4.3402, 32: 4.1957}
_BY_COUNT = {250: 13.651, 500: 14.795, 1000: 14.793, 2000: 15.655, 5000: 15.555}
_TWINS = {0: (4.723, 4.723), 20: (4.541, 4.689), 100: (3.207, 4.772), 200: (0.095, 4.835), 400: (0.070, 4.728)}
_BICKEL = {5: 1.2271076099, 10: 1.1361572980, 50: 1.0398234708}


def estimator_checks() -> list[AuditRow]:
    """Checks 5.1 to 5.7."""
    return [
        *_exact_ratios(),
        *_exact_distances(),
        *_uniform_clouds(),
        *_scales(),
        *_number_of_points(),
        *_duplicates(),
        *_constant_curve(),
    ]


def _row(id: str, what: str, known: float, found: float, tolerance: float, note: str = _NOTE) -> AuditRow:
    return judge(id, what, f"{known:.10g}", f"{found:.10g}", abs(known - found) <= tolerance, note)


def _cloud(dimension: int, count: int = 2000) -> torch.Tensor:
    import numpy as np
    import torch

    return torch.tensor(np.random.default_rng(0).random((count, dimension)))


def _value(points: torch.Tensor, duplicates: Duplicates = "drop") -> float:
    settings = EstimatorSettings(name="two_nn", kind="two_nn", duplicates=duplicates)
    return estimate_dimension(points, [settings])[0].value


def _exact_ratios() -> Iterator[AuditRow]:
    import torch

    count = 1000
    share = torch.arange(1, count, dtype=torch.float64) / count
    for letter, dimension in zip(_LETTERS, (1.0, 2.0, 7.5, 20.0), strict=False):
        second = (1 - share) ** (-1 / dimension)
        second = torch.cat([second, 2 * second[-1:]])
        found = two_nn(torch.stack([torch.ones(count, dtype=torch.float64), second], 1)).value
        yield _row(f"5.1{letter}", f"TwoNN on exact ratios of dimension {dimension:g}", dimension, found, 1e-10)


def _exact_distances() -> Iterator[AuditRow]:
    import torch

    for letter, (k, constant) in zip(_LETTERS, _BICKEL.items(), strict=False):
        distances = ((torch.arange(1, k + 1, dtype=torch.float64) / k) ** 0.5)[None]
        found = levina_bickel(distances, k).value / 2
        yield _row(f"5.2{letter}", f"Levina-Bickel on exact distances, k = {k}: bias factor", constant, found, 1e-9)


def _uniform_clouds() -> Iterator[AuditRow]:
    letters = iter(_LETTERS)
    estimators = [
        EstimatorSettings(name="two_nn", kind="two_nn"),
        EstimatorSettings(name="two_nn_ml", kind="two_nn_ml"),
        EstimatorSettings(name="levina_bickel_50", kind="levina_bickel"),
    ]
    for dimension, known in _CLOUDS.items():
        for found, value in zip(estimate_dimension(_cloud(dimension), estimators), known, strict=True):
            yield _row(f"5.3{next(letters)}", f"{found.estimator} on U(0,1)^{dimension}", value, found.value, 1e-4)
    for dimension, value in ((10, 8.200759), (50, 32.094607)):
        what = f"TwoNN on U(0,1)^{dimension}"
        note = f"{_NOTE}; high dimensions are underestimated"
        yield _row(f"5.3{next(letters)}", what, value, _value(_cloud(dimension)), 1e-4, note)


def _scales() -> Iterator[AuditRow]:
    distances = nearest_distances(_cloud(5), 64)
    for letter, (rank, known) in zip(_LETTERS, _GRIDE.items(), strict=False):
        found = gride(distances, rank, 2 * rank).value
        yield _row(f"5.4{letter}", f"GRIDE on U(0,1)^5, ranks {rank} and {2 * rank}", known, found, 1e-4)


def _number_of_points() -> Iterator[AuditRow]:
    points = _cloud(20, 5000)
    for letter, (count, known) in zip(_LETTERS, _BY_COUNT.items(), strict=False):
        note = f"{_NOTE}; estimates of 1000 training and 5000 validation prompts do not compare (T6)"
        what = f"TwoNN on U(0,1)^20, first {count} points"
        yield _row(f"5.5{letter}", what, known, _value(points[:count]), 1e-3, note)


def _duplicates() -> Iterator[AuditRow]:
    letters = iter(_LETTERS)
    for copied, (upstream, dropped) in _TWINS.items():
        points = _cloud(5)
        points[:copied] = points[copied : 2 * copied].clone()
        rules: tuple[tuple[Duplicates, float], ...] = (("upstream", upstream), ("drop", dropped))
        for rule, known in rules:
            what = f"TwoNN on U(0,1)^5 with {copied} twins, rule {rule}"
            yield _row(f"5.6{next(letters)}", what, known, _value(points, rule), 1e-3)


def _constant_curve() -> Iterator[AuditRow]:
    curve = [1.0] * 32
    yield _row(
        "5.7a", "AUC of a constant curve of 1, 32 layers, the paper's equation", 31 / 32, normalised_auc(curve), 0
    )
    found = normalised_auc(curve, "upstream")
    yield _row(
        "5.7b", "the same, the authors' figures", 1.0, found, 1e-15, "divides by L - 1, not by L as printed (T4)"
    )
    found = normalised_auc(curve, "upstream_heatmap")
    note = "drops the first layer a second time (T4)"
    yield _row("5.7c", "the same, the authors' heat map", 30 / 32, found, 1e-15, note)
