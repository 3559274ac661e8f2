"""Means from the sums and counts that a loss returns."""

_LEAST, _MOST = "_share_least", "_share_most"


def means_of(sums: dict[str, float]) -> dict[str, float]:
    """Means and accuracies by the names of their sums; a mean over nothing is NaN.

    `loss_sum` over `count` is `loss`; `<x>_loss_sum` over `<x>_count` is `<x>_loss`; `correct` over `total` is
    `accuracy`; `<x>_correct` over `<x>_count` is `<x>_accuracy`; `<x>_part` over `<x>_whole` is `<x>_share`, in
    percent. What `note_extremes` noted stays as it is.
    """
    means = {}
    for name, value in sums.items():
        if name.endswith("loss_sum"):
            stem = name.removesuffix("loss_sum")
            means[name.removesuffix("_sum")] = _ratio(value, sums[f"{stem}count"])
        elif name.endswith("correct"):
            stem = name.removesuffix("correct")
            means[f"{stem}accuracy"] = _ratio(value, sums[f"{stem}count"] if stem else sums["total"])
        elif name.endswith("_part"):
            stem = name.removesuffix("_part")
            means[f"{stem}_share"] = 100 * _ratio(value, sums[f"{stem}_whole"])
        elif name.endswith((_LEAST, _MOST)):
            means[name] = value
    return means


def note_extremes(window: dict[str, float], sums: dict[str, float]) -> None:
    """Note in `window` the least and the greatest share of an update so far, in percent, of each `<x>_part`."""
    for name, value in sums.items():
        if name.endswith("_part"):
            stem = name.removesuffix("_part")
            share = 100 * _ratio(value, sums[f"{stem}_whole"])
            window[stem + _LEAST] = min(window.get(stem + _LEAST, share), share)
            window[stem + _MOST] = max(window.get(stem + _MOST, share), share)


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
