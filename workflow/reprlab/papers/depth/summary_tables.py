"""DEPTH's Table 1 (means over DiscoEval) and Table 2 (scale of pre-training)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.depth.layouts import MeansLayout
from reprlab.papers.depth.loss_tables import empty_table
from reprlab.papers.depth.published import DISCOURSE_COHERENCE, SENTENCE_POSITION
from reprlab.reporting.layouts import LossLayout

if TYPE_CHECKING:
    import pandas

_NAMES = {
    ("fs", "t5"): "T5-FS",
    ("cpt", "t5"): "T5-CPT",
    ("fs", "depth"): "DEPTH-FS",
    ("cpt", "depth"): "DEPTH-CPT",
    ("public", "t5-base"): "T5-Base",
}
_GROUPS = {"sp": SENTENCE_POSITION, "dc": DISCOURSE_COHERENCE}


def means_table(layout: MeansLayout) -> pandas.DataFrame:
    """Mean of the SP tasks and of the DC tasks at the last checkpoint of each model and seed, baselines first.

    A mean covers the tasks that have data; `note` names the others. `learned_<column>` is learned where every task is.
    """
    import pandas

    frame = read_tsv(layout.discoeval)
    rows = []
    # Baselines have neither step nor seed; they count as one checkpoint.
    keys = [frame["init"], frame["model"], frame["seed"].fillna(-1)]
    for (init, model, _), group in frame.groupby(keys, sort=False):
        last = group.iloc[int(group["step"].fillna(0).to_numpy().argmax())]
        rows.append({"model": _NAMES.get((str(init), str(model)), str(model)), **_means(last), "scale": layout.scale})
    columns = ["model", "sp", "dc", "scale", "seed", "n", "step", "steps", "tokens", "data_sp", "data_dc"]
    columns += ["learned_sp", "learned_dc", "note"]
    table = pandas.DataFrame(rows, columns=columns)
    return table.astype(dict.fromkeys(("seed", "n", "step", "steps", "tokens"), "Int64"))


def _means(row: pandas.Series) -> dict[str, object]:
    import pandas

    found: dict[str, object] = {name: row[name] for name in ("seed", "n", "step", "steps", "tokens")}
    notes = []
    for column, tasks in _GROUPS.items():
        filled = [task for task in tasks if not pandas.isna(row[task])]
        lacking = [task for task in tasks if task not in filled]
        if filled:
            found[column] = sum(row[task] for task in filled) / len(filled)
        data = [row[f"data_{task}"] for task in filled if not pandas.isna(row[f"data_{task}"])]
        found[f"data_{column}"] = "; ".join(dict.fromkeys(data))
        verdicts = [row[f"learned_{task}"] for task in filled]
        if verdicts and not any(pandas.isna(verdict) for verdict in verdicts):
            found[f"learned_{column}"] = "learned" if set(verdicts) == {"learned"} else "not learned"
        if lacking:
            notes.append(f"{column}: without {', '.join(lacking)} (no data or not run)")
    return found | {"note": "; ".join(notes)}


def scale_table(layout: LossLayout) -> pandas.DataFrame:
    """Tokens, steps, batch, parameters and learning rate of each pre-training run."""
    import pandas

    columns = ["model", "tokens", "steps", "batch", "params", "lr", "scale", "seed", "n", "data", "note"]
    rows = []
    for run in layout.runs:
        last = read_tsv(run.metrics).iloc[-1] if run.metrics is not None else None
        steps = None if last is None else int(last["step"])
        rows.append(
            {
                "model": _NAMES.get((run.init, run.model), f"{run.model}-{run.init}"),
                "tokens": None if last is None else int(last["tokens"]),
                "steps": steps,
                "batch": run.batch_size or None,
                "params": run.parameters or None,
                "lr": run.learning_rate or None,
                "scale": layout.scale,
                "seed": run.seed,
                "n": steps and run.batch_size and steps * run.batch_size,
                "data": layout.data,
                "note": "n counts training passages, with repetition",
            }
        )
    if not rows:
        return empty_table(layout, columns)
    integers = ["tokens", "steps", "batch", "params", "seed", "n"]
    return pandas.DataFrame(rows, columns=columns).astype(dict.fromkeys(integers, "Int64"))
