"""Pairs of our numbers and DEPTH's printed ones.

A row is matched by initialisation, model and step. Where the steps differ, as at every scale but the paper's own, only
the last checkpoint has a counterpart, the last one of ours, and the note says so; an early checkpoint of a short run
has seen another share of its training and stands for none of the paper's.
"""

from __future__ import annotations

from collections.abc import Callable

from reprlab.papers.depth.names import BENCHMARKS
from reprlab.reporting.comparison import Counterpart
from reprlab.reporting.finishing import short_step
from reprlab.results.comparison import Cell, Own
from reprlab.results.frame import Rows

_LAST_STEP = {"fs": 1_000_000, "cpt": 256_000}
_DERIVED = "follows from the paper's other numbers: see the audit"
_NOT_OURS = "quoted by the paper from others; not a model of this workflow"


def _by_model(name: str) -> Callable[[Own, Cell, str], Counterpart]:
    """The last checkpoint of the model of a row."""

    def find(own: Own, row: Cell, column: str) -> Counterpart:
        model = row["model"]
        rows = own.rows(name, model=model)
        if rows.empty:
            trained = model.endswith(("-FS", "-CPT"))
            return own.missing(f"not trained at scale {own.frame.scale}" if trained else _NOT_OURS)
        paper = short_step(_LAST_STEP["cpt" if model.endswith("-CPT") else "fs"])
        last = rows["step" if "step" in rows else "steps"].max()
        return _mean(own, rows, column, f"step {last}, where the paper has {paper}")

    return find


def _by_checkpoint(name: str) -> Callable[[Own, Cell, str], Counterpart]:
    """The checkpoint of a row, or our last one beside the paper's last one."""

    def find(own: Own, row: Cell, column: str) -> Counterpart:
        init, model, step, scale = row["init"], row["model"], int(row["step"]), own.frame.scale
        if row["split"] == "test":
            return Counterpart("", "quoted by the paper; the labels of the test split are not public")
        rows = own.rows(name, init=init, model=model)
        if rows.empty:
            return Counterpart("", f"{init} {model} is not run at scale {scale}")
        if init == "public":
            return _mean(own, rows, column, "released weights")
        exact = rows[rows["step"] == step]
        if len(exact):
            return _mean(own, exact, column, f"step {step}")
        if step != _LAST_STEP[init]:
            return Counterpart("", f"step {short_step(step)} is not trained at scale {scale}")
        last = rows["step"].max()
        about = f"last checkpoint: step {last} here, {short_step(step)} there"
        return _mean(own, rows[rows["step"] == last], column, about)

    return find


def _mean(own: Own, rows: Rows, column: str, about: str) -> Counterpart:
    """The mean over the seeds of some rows of our table."""
    values = rows[column].dropna() if column in rows else rows.iloc[:0, 0]
    if values.empty:
        return own.missing(f"no data at scale {own.frame.scale}", column=column)
    data = rows[f"data_{column}"] if f"data_{column}" in rows else rows["data"] if "data" in rows else values.iloc[:0]
    note = [f"scale {own.frame.scale}", about, f"mean of {len(values)} seeds" if len(values) > 1 else "one seed"]
    note += [f"data: {data.iloc[0]}"] if len(data) and data.iloc[0] else []
    return Counterpart(_printed(column, float(values.mean())), "; ".join(note))


def _statement(own: Own, row: Cell, column: str) -> Counterpart:
    """Statements of the text on losses and accuracies."""
    quantity, init, model = row["quantity"], row["init"], row["model"]
    if model == "nanot5" or (model == "t5-base" and quantity == "training_loss"):
        return Counterpart("", _NOT_OURS)
    if quantity == "training_loss":
        return _training_loss(own, row)
    if quantity.startswith("sent_accuracy_gain"):
        return _gain(own)
    wanted = {"validation_loss": "loss", "sentence_loss_min": "sentence_loss", "sentence_loss_max": "sentence_loss"}
    name = wanted.get(quantity, "sent_accuracy_shuffled" if quantity.startswith("sent_accuracy") else "")
    if not name:
        return Counterpart("", _DERIVED)
    rows = _last_losses(own, init, model)
    if rows.empty:
        return Counterpart("", f"the losses of {init} {model} are not given at scale {own.frame.scale}")
    return _mean(own, rows, name, f"validation, last checkpoint: step {rows['step'].iloc[0]}")


def _training_loss(own: Own, row: Cell) -> Counterpart:
    """The mean training loss up to the step of a row, as it was logged."""
    losses = own.frame.select(part="training", metric="loss", experiment="main", init=row["init"], model=row["model"])
    losses = losses[losses["step"] == int(row["step"])]
    if losses.empty:
        return Counterpart("", f"step {short_step(int(row['step']))} is not trained at scale {own.frame.scale}")
    return Counterpart(f"{losses['value'].mean():.2f}", f"scale {own.frame.scale}; the updates up to this step")


def _gain(own: Own) -> Counterpart:
    fs, cpt = (_last_losses(own, init, "depth") for init in ("fs", "cpt"))
    scale = own.frame.scale
    if fs.empty or cpt.empty:
        return Counterpart("", f"needs loss_fs and loss_cpt, which are not both given at scale {scale}")
    gain = cpt["sent_accuracy_shuffled"].mean() - fs["sent_accuracy_shuffled"].mean()
    return Counterpart(f"{gain:.2f}", f"scale {scale}; shuffled batches, last checkpoints")


def _last_losses(own: Own, init: str, model: str) -> Rows:
    rows = own.rows(f"loss_{init}", model=model)
    return rows[rows["step"] == rows["step"].max()]


def _printed(column: str, value: float) -> str:
    if column in ("tokens", "steps", "batch", "params"):
        return str(round(value))
    return f"{value:g}" if column == "lr" else f"{value:.2f}"


OURS = {
    "table1": _by_model("table1"),
    "table2_scale": _by_model("table2_scale"),
    **{name: _by_checkpoint(name) for name in BENCHMARKS},
    "statements": _statement,
}
