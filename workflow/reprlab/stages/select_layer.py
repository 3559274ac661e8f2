"""The layer of an encoder whose outputs serve best."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def select_layer(*, metrics: list[Path], layers: list[int], metric: str, out: Path) -> None:
    """Write `out`: the layer with the highest mean of `metric` over seeds, and those of all layers.

    Of equal layers the upper one is taken.

    Args:
        metrics: a table of scores for each of `layers`.

    Raises:
        ReprlabError: a table lacks the metric.
    """
    from statistics import fmean

    from reprlab.artifacts.json_files import write_json
    from reprlab.artifacts.tsv import read_lines
    from reprlab.runtime.errors import ReprlabError

    means: dict[int, float] = {}
    for layer, path in zip(layers, metrics, strict=True):
        header, *rows = read_lines(path)
        named = [dict(zip(header, row, strict=True)) for row in rows]
        values = [float(row["value"]) for row in named if row.get("metric") == metric]
        if not values:
            raise ReprlabError(f"{path}: has no {metric}; delete it and run again")
        means[layer] = fmean(values)
    best = max(means, key=lambda layer: (means[layer], layer))
    write_json(out, {"layer": best, metric: {str(layer): value for layer, value in means.items()}})


if __name__ == "__main__":
    run_stage(select_layer)
