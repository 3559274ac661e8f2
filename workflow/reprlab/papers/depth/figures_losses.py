"""Figures 2, 3, 7, 8, 9 and 10, and the ablations of defects: losses by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reprlab.results.figures import Axis, Curves, Long, nothing
from reprlab.results.frame import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn

_STEP = Axis("step", "pre-training step", log=True)
_PARTS_AXIS = Axis("value", "loss (nats)", "low", "high", "chance_sentence_loss", "sentence loss by chance order")
_PARTS = {
    "loss": "total",
    "reconstruction_loss": "reconstruction",
    "sentence_loss": "sentence",
    "sentence_loss_shuffled": "sentence, shuffled",
    "sentence_loss_unshuffled": "sentence, in order",
}
draw_decomposition = Long(_PARTS, Curves(_STEP, [_PARTS_AXIS], "quantity", "init"))
"""DEPTH's loss, its two parts, and the sentence loss that chance order gives."""


def draw_losses(table: Rows, drawn: Drawn) -> Figure:
    """Validation loss of T5, and total and reconstruction loss of DEPTH; at paper scale what the paper states of T5."""

    def draw(rows: Rows, drawn: Drawn) -> Figure:
        rows = rows[(rows["model"] != "t5") | (rows["quantity"] == "total")]
        rows = rows.assign(line=rows["model"].str.cat(rows["quantity"], ", ").replace({"t5, total": "t5"}))
        figure = Curves(_STEP, [Axis("value", "validation loss (nats)", "low", "high")], "line", "init")(rows, drawn)
        printed = drawn.printed["statements"].query("model == 't5' and quantity == 'validation_loss'")
        printed = printed[printed["init"].isin(rows["init"])]
        if drawn.scale == "paper" and len(printed):
            place = [printed["step"].astype(float), printed["value"].astype(float)]
            figure.axes[0].plot(*place, marker="*", markersize=10, linestyle="", label="t5, printed")
        return figure

    return Long({name: _PARTS[name] for name in ("loss", "reconstruction_loss")}, draw)(table, drawn)


def draw_packing(table: Rows, drawn: Drawn) -> Figure:
    """Training loss of T5 by packing and learning rate."""
    if table["step"].isna().all():
        return nothing(table, drawn)
    names = [
        f"{'packing' if packing == 'yes' else 'no packing'}, lr {rate:g}{' (diverged)' if over == 'yes' else ''}"
        for packing, rate, over in table[["packing", "lr", "diverged"]].itertuples(index=False)
    ]
    axis = Axis("step", "pre-training step")
    return Curves(axis, [Axis("loss", "training loss (nats)")], "run", "")(table.assign(run=names), drawn)


def draw_variants(titles: Mapping[str, str]) -> Long:
    """A panel for each column of `titles`, a curve for each variant of a side experiment."""
    return Long(titles, Curves(_STEP, [Axis("value", "", "low", "high")], "variant", "quantity"))
