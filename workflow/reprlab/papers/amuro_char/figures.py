"""Bars of one model of a table: gains by group of sets, change out of domain, formats at the final checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reprlab.papers.amuro_char.names import BASE, last_checkpoint
from reprlab.reporting.figures import CYCLE, panels, shared_legend
from reprlab.results.figures import Axis, Bars, draw_bars, nothing
from reprlab.results.frame import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn

    Draw = Callable[[Rows, Drawn], Figure]


def of_model(draw: Draw, place: int = 0) -> Draw:
    """The figure of one model of a table: the first, or the last (-1)."""

    def draw_one(table: Rows, drawn: Drawn) -> Figure:
        named = table["family"].dropna().unique() if "family" in table else ()
        return draw(table[table["family"] == named[place]], drawn) if len(named) else nothing(table, drawn)

    return draw_one


draw_gains = Bars(
    "ckpt",
    [
        Axis(f"learned_in_{name}", f"learned in {label}", f"low_learned_in_{name}", f"high_learned_in_{name}")
        for name, label in (("pretrain", "pre-training, SciQ twice"), ("finetune", "fine-tuning"))
    ],
    "fine-tuned minus base (points),\n90 % interval over sets",
    panel="family",
)
"""Figure 8."""


def draw_ood(table: Rows, drawn: Drawn) -> Figure:
    """Figure 5: bars of tasks with intervals, a point for each set; ratio left, difference right."""
    return _draw_ood(table[table["checkpoints"] == "all"], drawn)


def draw_final_ood(table: Rows, drawn: Drawn) -> Figure:
    """Figure 15: the same at the final checkpoint."""
    return _draw_ood(table[table["checkpoints"] != "all"], drawn)


def _draw_ood(rows: Rows, drawn: Drawn) -> Figure:
    whole, single = rows[rows["eval"] == "all"], rows[rows["eval"] != "all"]
    figure, axes = panels(1, 2, width=3.7, height=2.8)
    tasks = list(whole["task"])
    columns = (
        Axis("ratio", "ratio", "ratio_low", "ratio_high"),
        Axis("difference", "difference (points)", "low", "high"),
    )
    for panel, axis in zip(axes[0], columns, strict=True):
        draw_bars(panel, range(len(tasks)), whole, axis, 0.6, color=CYCLE[5], label="task")
        places = [tasks.index(task) for task in single["task"]]
        panel.scatter(places, single[axis.column], s=18, color="#333333", zorder=3, label="one set")
        panel.set_xticks(range(len(tasks)), [task.replace("_", "\n") for task in tasks])
        panel.set_title(f"change: {axis.label}")
    shared_legend(figure, axes[0])
    figure.suptitle(f"{rows['family'].iloc[0]}, checkpoint: {rows['checkpoints'].iloc[0]}")
    return figure


def draw_final_formats(table: Rows, drawn: Drawn) -> Figure:
    """Figure 3: formats at the final checkpoint, before fine-tuning above, fine-tuned below."""
    rows = table[table["ckpt"].astype(str) == last_checkpoint(table["ckpt"])]
    tuned = rows["train"].map(lambda name: "before fine-tuning" if name == BASE else "fine-tuned")
    rows = rows.assign(tuned=tuned).sort_values("tuned", kind="stable")
    score = Axis("performance", "score (%)", "low", "high")
    return Bars("eval", [score], "score (%)", "fmt", "family ckpt tuned")(rows, drawn)
