"""Choose the best learning rate of each checkpoint by a validation metric."""

import math
from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.runtime.errors import ReprlabError


def select_learning_rate(
    *, metrics: list[Path], out: Path, collected: Path | None = None, metric: str = "", split: str = "validation"
) -> None:
    """Write, per checkpoint name, the learning rate with the highest value, the smaller one where two tie.

    The rows of all examples (subset '') count, in the evaluation mode that comes first in the tables. A diverged run
    without a number is chosen only if there is nothing else. (Without pandas: it must not cost more than its work.)

    Args:
        metrics: tables of `finetune_model`, over any learning rates.
        out: JSON `{metric, split, eval_mode, best: {name: {learning_rate, value}}}`.
        collected: TSV with the rows of all tables.
        metric: the metric to compare; empty: the first one of the tables.
        split: the split to compare on; never the test split of a paper's table.

    Raises:
        ReprlabError: a table is missing or not one of metrics, or no row is of that metric and split.
    """
    from reprlab.artifacts.json_files import write_json
    from reprlab.artifacts.tsv import write_lines

    header, rows = _read(metrics)
    if collected is not None:
        write_lines(collected, [header, *([*row.values()] for row in rows)])
    rows = [row for row in rows if row["split"] == split and not row["subset"]]
    metric = metric or (rows[0]["metric"] if rows else "")
    rows = [row for row in rows if row["metric"] == metric]
    if not rows:
        raise ReprlabError(f"{metrics[0]}: no row of metric {metric!r} on split {split!r}; check metrics and splits")
    mode = rows[0]["eval_mode"]
    by_name: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row["eval_mode"] == mode:
            value = float(row["value"] or "nan")
            by_name.setdefault(row["name"], []).append((float(row["learning_rate"]), value))
    best = {name: _best(found) for name, found in sorted(by_name.items())}
    write_json(out, {"metric": metric, "split": split, "eval_mode": mode, "best": best})


def _read(metrics: list[Path]) -> tuple[list[str], list[dict[str, str]]]:
    from reprlab.artifacts.tsv import read_lines

    header: list[str] = []
    rows: list[dict[str, str]] = []
    for path in metrics:
        names, *found = read_lines(path) or [[]]
        if not {"name", "learning_rate", "split", "subset", "metric", "value", "eval_mode"} <= set(names):
            raise ReprlabError(f"{path}: not a table of fine-tuning scores; delete it and run again")
        if header and names != header:
            raise ReprlabError(f"{path}: its columns differ from those of {metrics[0]}; delete both and run again")
        header = names
        rows += [dict(zip(names, line, strict=True)) for line in found]
    return header, rows


def _best(found: list[tuple[float, float]]) -> dict[str, float]:
    rate, value = min(
        found, key=lambda pair: (math.isnan(pair[1]), -pair[1] if not math.isnan(pair[1]) else 0, pair[0])
    )
    return {"learning_rate": rate, "value": value}


if __name__ == "__main__":
    run_stage(select_learning_rate)
