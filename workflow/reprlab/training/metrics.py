"""Means from the sums and counts that a loss returns."""


def means_of(sums: dict[str, float]) -> dict[str, float]:
    """Means and accuracies by the names of their sums; a mean over nothing is NaN.

    `loss_sum` over `count` is `loss`; `<x>_loss_sum` over `<x>_count` is `<x>_loss`; `correct` over `total` is
    `accuracy`; `<x>_correct` over `<x>_count` is `<x>_accuracy`.
    """
    means = {}
    for name, value in sums.items():
        if name.endswith("loss_sum"):
            stem = name.removesuffix("loss_sum")
            means[name.removesuffix("_sum")] = _ratio(value, sums[f"{stem}count"])
        elif name.endswith("correct"):
            stem = name.removesuffix("correct")
            means[f"{stem}accuracy"] = _ratio(value, sums[f"{stem}count"] if stem else sums["total"])
    return means


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
