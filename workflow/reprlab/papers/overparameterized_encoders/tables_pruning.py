"""Tables of L3Prune that are not a selection of the frame, and our side of the printed tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own
from reprlab.results.figures import nothing
from reprlab.results.frame import Frame, Rows
from reprlab.sentences.depths import chosen_depths

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn

_BILLION = 10**9
_RUN = ["model", "depth", "seed"]
_SIZES = [
    "model", "depth", "layers", "layers_dropped", "params_B", "pct", "params_exact", "pct_exact", "trained", "seconds",
    "peak_memory_GB", "steps", "seeds",
]  # fmt: skip


def curves(frame: Frame) -> dict[str, tuple[Rows, int, int]]:
    """Of each model the mean untrained loss by layer, and the two depths that it chooses."""
    found = {}
    for model, rows in frame.select(part="layers").groupby("model", sort=False):
        means = rows.groupby("layer")["value"].mean().sort_index()
        found[str(model)] = (means, *chosen_depths(means.tolist()))
    return found


def layer_losses(frame: Frame) -> Rows:
    """Mean and standard deviation over batches at each layer, which layers are chosen, and by what (Figure 1)."""
    parts = []
    for model, (_, small, large) in curves(frame).items():
        rows = frame.select(part="layers", model=model)
        table = rows.groupby("layer")["value"].agg(loss="mean", std="std", batches="count").reset_index()
        table["chosen"] = table["layer"].map({small: "small", large: "large"}).fillna("")
        given = {name: rows[name].iloc[0] for name in ("batch_size", "temperature", "data")}
        parts.append(table.assign(model=model, **given, scale=frame.scale))
    columns = ["model", "layer", "loss", "std", "batches", "batch_size", "temperature", "chosen", "data", "scale"]
    return _joined(frame, parts, columns)


def cost(frame: Frame) -> Rows:
    """Cost of each depth, over seeds: layers, parameters as they are and as the paper reckons them, time, memory."""
    rows = frame.select(part="cost")
    if rows.empty:
        return type(rows)(columns=[*_SIZES, "scale"])
    wide = rows.pivot_table(index=_RUN, columns="metric", values="value", sort=False).reset_index()
    table = wide.groupby(["model", "depth"], sort=False).mean().drop(columns="seed").reset_index()
    share = table["layers"] / table["of_layers"]
    # The paper takes a share of everything, the embeddings too, and of the adapters of the whole model.
    table["params_B"] = (share * table["of_parameters"] + table["trained"]) / _BILLION
    table["pct"] = 100 * share
    table["pct_exact"] = 100 * table["parameters"] / table["of_parameters"]
    table["layers_dropped"] = table["of_layers"] - table["layers"]
    table["peak_memory_GB"] = table["peak_memory"] / _BILLION
    table["seeds"] = wide.groupby(["model", "depth"], sort=False).size().to_numpy()
    table["steps"] = table["model"].map(frame.select(part="training").groupby("model")["step"].max())
    whole = [name for name in ("layers", "layers_dropped", "parameters", "trained", "steps") if name in table]
    table = table.astype(dict.fromkeys(whole, "Int64")).rename(columns={"parameters": "params_exact"})
    return table[_SIZES].assign(scale=frame.scale)


def mean_scores(frame: Frame, part: str = "scores") -> Rows:
    """The plain mean over all tasks, by model, depth and seed, of trained encoders; none where a task is not scored."""
    rows = frame.select(part=part, training="trained")
    rows = rows[rows["dataset"] != ""]
    by = rows[rows["dataset"] != "triples"].groupby(_RUN, sort=False)["value"]
    return by.mean()[by.count() == frame.options["tasks"]]


def variants(frame: Frame) -> Rows:
    """Every depth with its size and mean score, and what it loses against the whole model (Table 1, Figures 4, 5)."""
    table = cost(frame).drop(columns=["seconds", "peak_memory_GB", "trained"])
    keys = [table["model"], table["depth"]]
    scores = mean_scores(frame).groupby(["model", "depth"]).mean()
    table["score"] = _at(scores, *keys)
    table["delta"] = table["score"] - _at(scores, table["model"], ["p00"] * len(table))
    trained = frame.select(part="scores", training="trained", dataset="triples").groupby(["model", "depth"])["value"]
    untrained = frame.select(part="scores", training="none", dataset="triples").groupby(["model", "depth"])["value"]
    table["loss"], table["loss_untrained"] = _at(trained.mean(), *keys), _at(untrained.mean(), *keys)
    final = frame.select(part="training").sort_values("step").groupby(_RUN)["value"].last()
    table["final_loss"] = _at(final.groupby(["model", "depth"]).mean(), *keys)
    scored = frame.select(part="scores", training="trained").groupby(["model", "depth"])
    for flag in ("above_trivial", "above_untrained"):
        table[flag] = _at(scored[flag].apply(_counted), *keys)
    reason = f"the mean needs every task; {frame.reason(part='scores')}"
    table["note"] = [reason if math.isnan(score) else "" for score in table["score"]]
    return table


def _counted(flags: Rows) -> str:
    known = flags[flags != ""]
    return f"{(known == 'above').sum()} of {len(known)} rows" if len(known) else ""


def published(frame: Frame) -> Rows:
    """The encoders of others: size, mean score where every task is scored, each score (Table 1)."""
    rows = frame.select(part="published")
    scored, sizes = rows[rows["dataset"] != ""], rows[rows["metric"] == "parameters"]
    by = scored.groupby("model", sort=False)
    table = by.agg(layers=("layers", "first"), score=("value", "mean"), tasks=("value", "count"))
    table["score"] = table["score"].where(table["tasks"] == frame.options["tasks"])
    table["params_exact"] = sizes.groupby("model")["value"].first()
    table["params_B"] = table["params_exact"] / _BILLION
    each = scored.pivot_table(index="model", columns="dataset", values="value", sort=False)
    return table.join(each).reset_index().assign(scale=frame.scale)


def tasks(frame: Frame) -> Rows:
    """The tasks with what is measured and on which data; those without data with the reason (Table 3)."""
    rows = frame.narrowed({"part": "scores"}).rows
    rows = rows[(rows["dataset"] != "") & (rows["dataset"] != "triples")].drop_duplicates("dataset")
    shown = ["dataset", "category", "metric", "split", "n", "data", "reason"]
    return rows[shown].rename(columns={"dataset": "task", "reason": "note"}).assign(scale=frame.scale)


def _at(values: Rows, models: Any, depths: Any) -> list[Any]:
    return [values.get((model, depth), math.nan) for model, depth in zip(models, depths, strict=True)]


def _joined(frame: Frame, parts: list[Rows], columns: list[str]) -> Rows:
    import pandas

    return pandas.concat(parts, ignore_index=True)[columns] if parts else type(frame.rows)(columns=columns)


def draw_layer_losses(table: Rows, drawn: Drawn) -> Figure:
    """Loss by layer with both minima marked (Figure 1)."""
    from reprlab.reporting.figures import CYCLE, shared_legend
    from reprlab.results.figures import wrapped_panels

    if "loss" not in table or table["loss"].isna().all():
        return nothing(table, drawn)
    groups = list(table.groupby("model", sort=False))
    figure, axes = wrapped_panels(1, len(groups))
    for panel, (name, rows) in zip(axes[0], groups, strict=True):
        panel.plot(rows["layer"], rows["loss"], marker=".", color=CYCLE[0], label="loss before training")
        panel.fill_between(rows["layer"], rows["loss"] - rows["std"], rows["loss"] + rows["std"], alpha=0.2)
        for place, depth in enumerate(("small", "large"), start=1):
            chosen = rows[rows["chosen"] == depth]
            panel.plot(chosen["layer"], chosen["loss"], "o", color=CYCLE[place], label=f"{depth} variant")
        panel.set(title=str(name), xlabel="Layers that are kept")
    axes[0][0].set_ylabel("Loss (nats)")
    shared_legend(figure, axes[0])
    return figure


def first_table(own: Own, row: Cell, column: str) -> Counterpart:
    """Our cell beside one of Table 1."""
    name = {"layers": "layers", "params": "params_B", "pct": "pct", "score": "score", "delta": "delta"}[column]
    places = {"layers": 0, "params": 2, "pct": 0}.get(column, 1)
    return _cell(own, "table1" if row["variant"] else "published", row, name, places)


def second_table(own: Own, row: Cell, column: str) -> Counterpart:
    """Our minutes beside one of Table 2; other hardware."""
    return _cell(own, "table2", {**row, "variant": column}, "minutes", 1)


_SAID_OF = {"llama": "LLaMA-3-8B", "mistral": "Mistral-7B", "qwen": "Qwen2-7B", "phi": "Phi3-4B"}


def in_the_text(own: Own, row: Cell, column: str) -> Counterpart:
    """Our cell beside a number that the text has of a depth: its name is model_depth_what."""
    model, depth, what = row["quantity"].split("_", 2)
    if model not in _SAID_OF:
        return own.missing("follows from Table 1: see the audit")
    at = {"model": _SAID_OF[model], "variant": {"unpruned": "p00"}.get(depth, depth)}
    return _cell(own, "table1", at, {"params": "params_B", "delta": "delta"}.get(what, "score"), 2)


def _cell(own: Own, table: str, row: Cell, column: str, places: int) -> Counterpart:
    from reprlab.papers.overparameterized_encoders.names import LABELS

    key = {label: name for name, label in LABELS.items()}[row["model"]]
    ours = own.rows(table, model=key, **({"depth": row["variant"]} if row["variant"] else {}))
    if ours.empty or column not in ours or ours[column].isna().all():
        return own.missing(model=key)
    return Counterpart(f"{ours[column].iloc[0]:.{places}f}", f"scale {own.frame.scale}")


def times(frame: Frame) -> Rows:
    """Minutes of training at each depth (Table 2, Figure 6)."""
    table = cost(frame)
    table["minutes"] = table["seconds"] / 60
    return table[["model", "depth", "layers", "params_B", "params_exact", "minutes", "steps", "seeds", "scale"]]
