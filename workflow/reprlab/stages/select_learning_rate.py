"""Choose the best learning rate of each checkpoint by a validation metric."""

from pathlib import Path
from typing import Any

from reprlab.runtime.cli import run_stage
from reprlab.runtime.errors import ReprlabError


def select_learning_rate(*, metrics: list[Path], out: Path, metric: str = "", split: str = "validation") -> None:
    """Write, per checkpoint name, the learning rate with the highest value, the smaller one where two tie.

    The rows of all examples (subset '') count, in the evaluation mode that comes first in the tables.

    Args:
        metrics: tables of `finetune_model`, over any learning rates.
        out: JSON `{metric, split, eval_mode, best: {name: {learning_rate, value}}}`.
        metric: the metric to compare; empty: the first one of the tables.
        split: the split to compare on; never the test split of a paper's table.

    Raises:
        ReprlabError: no row for that metric and split.
    """
    import pandas

    from reprlab.runtime.files import write_json
    from reprlab.runtime.tables import read_tsv

    rows = pandas.concat([read_tsv(path) for path in metrics], ignore_index=True)
    rows["subset"] = rows["subset"].fillna("")
    rows = rows[(rows["split"] == split) & (rows["subset"] == "")]
    metric = metric or (str(rows["metric"].iloc[0]) if len(rows) else "")
    rows = rows[rows["metric"] == metric]
    if rows.empty:
        raise ReprlabError(f"{metrics[0]}: no row of metric {metric!r} on split {split!r}; check metrics and splits")
    mode = str(rows["eval_mode"].iloc[0])
    best = {str(name): _best(group) for name, group in rows[rows["eval_mode"] == mode].groupby("name", sort=True)}
    write_json(out, {"metric": metric, "split": split, "eval_mode": mode, "best": best})


def _best(rows: Any) -> dict[str, float]:
    # A diverged run may have no number; it is chosen only if there is nothing else.
    ordered = rows.sort_values(["value", "learning_rate"], ascending=[False, True], kind="stable", na_position="last")
    first = ordered.iloc[0]
    return {"learning_rate": float(first["learning_rate"]), "value": float(first["value"])}


if __name__ == "__main__":
    run_stage(select_learning_rate)
