"""Table 10, scores with and without PEMA, and Table 9, its time and memory."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.evaluation.bootstrap import LEARNED, learned
from reprlab.papers.vocab_memory.layouts import Arm, GlueLayout, RuntimeLayout, ScoredColumn, seed_name
from reprlab.papers.vocab_memory.names import label_of
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

_tsv = functools.cache(read_tsv)
_BASELINE = ("majority", "tfidf")
_MISMATCHED = "mnli_mm"


def scores_of(arm: Arm, metric: str, subset: str = "") -> dict[int, pandas.Series]:
    """The row of validation scores of each run, by seed.

    Raises:
        ReprlabError: there is none, or several.
    """
    frame = _tsv(arm.metrics)
    return {
        seed: _one_row(frame[frame["name"] == seed_name(seed)], metric, subset, str(arm.metrics)) for seed in arm.seeds
    }


def glue_table(layout: GlueLayout) -> pandas.DataFrame:
    """Baselines first, then each model without and with PEMA: the mean over seeds, and the sd of the task mean.

    A task's cell is the mean over the seeds; `sd` is that of the mean over tasks, between seeds.
    """
    import pandas

    rows = [row for name in _BASELINE if (row := _baseline_row(layout, name))]
    for model in dict.fromkeys(arm.model for arm in layout.arms):
        rows += [_model_row(layout, model, pema) for pema in (False, True)]
    names = [column.name for column in layout.columns]
    columns = ["model", "pema", *[name for name in names if name != _MISMATCHED], "mean", "sd"]
    columns += [name for name in names if name == _MISMATCHED]
    columns += ["scale", "seeds", "n", "steps", "tokens", *[f"data_{name}" for name in names]]
    columns += [f"learned_{name}" for name in names] + ["note"]
    return pandas.DataFrame(rows, columns=columns).astype(dict.fromkeys(("seeds", "n", "steps", "tokens"), "Int64"))


def runtime_table(layout: RuntimeLayout) -> pandas.DataFrame:
    """Seconds of PEMA and of fine-tuning with it, and peak memory with and without it; means and sd over runs."""
    import pandas

    frame = pandas.concat(
        [
            _tsv(timing.measured).assign(task=timing.task, model=timing.model, pema=timing.pema, seed=timing.seed)
            for timing in layout.timings
        ],
        ignore_index=True,
    )
    rows = []
    for task in dict.fromkeys(frame["task"]):
        on, off = (frame[(frame["task"] == task) & (frame["pema"] == pema)] for pema in (True, False))
        first, whole = on.iloc[0], off.iloc[0]
        rows.append(
            {
                "task": task,
                "model": label_of(str(first["model"])),
                "steps": first["steps"],
                "pema_s": on["pema_seconds"].mean(),
                "pema_sd": on["pema_seconds"].std(),
                "finetune_s": on["train_seconds"].mean(),
                "finetune_sd": on["train_seconds"].std(),
                "percent": (100 * on["pema_seconds"] / on["train_seconds"]).mean(),
                "percent_low": (100 * on["pema_seconds"] / on["train_seconds"]).min(),
                "percent_high": (100 * on["pema_seconds"] / on["train_seconds"]).max(),
                "finetune_whole_s": off["train_seconds"].mean(),
                "peak_mb": on["peak_bytes"].mean() / 1e6,
                "peak_whole_mb": off["peak_bytes"].mean() / 1e6,
                "moments": first["moments"],
                "moments_whole": whole["moments"],
                "vocabulary": first["vocabulary"],
                "used": first["used"],
                "width": first["width"],
                "scale": layout.scale,
                "seeds": len(on),
                "n": first["examples"],
                "tokens": first["tokens"],
                "data": layout.columns[str(task)],
                "device": first["device"],
                "note": "peaks: memory of the process or the GPU's allocator, less that before the model was loaded; "
                "moments: numbers in Adam's state",
            }
        )
    integers = ["moments", "moments_whole", "vocabulary", "used", "width", "seeds", "n", "steps", "tokens"]
    return pandas.DataFrame(rows).astype(dict.fromkeys(integers, "Int64"))


def _model_row(layout: GlueLayout, model: str, pema: bool) -> dict[str, Any]:
    arms = [arm for arm in layout.arms if arm.model == model and arm.pema == pema]
    row: dict[str, Any] = {"model": label_of(model), "pema": "yes" if pema else "no", "scale": layout.scale}
    by_seed: dict[int, list[float]] = {}
    notes, totals = [], {"n": 0, "steps": 0, "tokens": 0}
    for column in layout.columns:
        run = next((arm for arm in arms if column.task and arm.task == column.task), None)
        if run is None:
            notes.append(f"{column.name}: {column.reason or 'not run at this scale'}")
            continue
        by_run = scores_of(run, column.metric, column.subset)
        scores = list(by_run.values())
        values = [float(score["value"]) for score in scores]
        row |= {column.name: sum(values) / len(values), f"data_{column.name}": column.data}
        row[f"learned_{column.name}"] = _verdict(column, scores)
        if column.name == _MISMATCHED:
            continue
        for seed, value in zip(by_run, values, strict=True):
            by_seed.setdefault(seed, []).append(value)
        totals = {name: totals[name] + sum(int(score[name]) for score in scores) for name in totals}
    means = [sum(values) / len(values) for values in by_seed.values()]
    if means:
        row["mean"] = sum(means) / len(means)
        row["sd"] = _sd(means)
    counted = max((len(values) for values in by_seed.values()), default=0)
    notes.append(f"mean: of {counted} tasks; n, steps and tokens: all tasks and seeds together")
    return {**row, **totals, "seeds": len(by_seed), "note": "; ".join(notes)}


def _baseline_row(layout: GlueLayout, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column in layout.columns:
        if column.baselines is None:
            continue
        frame = _tsv(column.baselines)
        frame = frame[frame["name"] == name]
        if len(frame):
            row[column.name] = float(_one_row(frame, column.metric, column.subset, str(column.baselines))["value"])
            row[f"data_{column.name}"] = column.data
    values = [row[column.name] for column in layout.columns if column.name in row and column.name != _MISMATCHED]
    if not values:
        return {}
    return {"model": name, "scale": layout.scale, **row, "mean": sum(values) / len(values), "note": "baseline"}


def _verdict(column: ScoredColumn, scores: list[pandas.Series]) -> str:
    """learned where the interval over examples lies above the most frequent label's score; else of how many seeds."""
    if column.baselines is None:
        return ""
    frame = _tsv(column.baselines)
    trivial = _one_row(frame[frame["name"] == "majority"], column.metric, column.subset, str(column.baselines))
    verdicts = [learned(float(score["low"]), float(trivial["value"])) for score in scores]
    if len(set(verdicts)) == 1:
        return verdicts[0]
    return f"{LEARNED} with {verdicts.count(LEARNED)} of {len(verdicts)} seeds"


def _one_row(frame: pandas.DataFrame, metric: str, subset: str, where: str) -> pandas.Series:
    rows = frame[(frame["metric"] == metric) & (frame["split"] == "validation")]
    rows = rows[rows["subset"].isna() if not subset else rows["subset"] == subset]
    if len(rows) != 1:
        raise ReprlabError(
            f"{where}: {len(rows)} rows of {metric} on validation, one is needed; delete it and run again"
        )
    return rows.iloc[0]


def _sd(values: list[float]) -> float | None:
    import statistics

    return statistics.stdev(values) if len(values) > 1 else None
