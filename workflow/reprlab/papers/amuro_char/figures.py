"""Bars: gains by group of sets, change out of domain, formats at the final checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reprlab.papers.amuro_char.names import BASE, last_checkpoint
from reprlab.reporting.figures import CYCLE, panels, shared_legend, short_step
from reprlab.results.figures import nothing
from reprlab.results.frame import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn

    Draw = Callable[[Rows, Drawn], Figure]

# The colours that the caption of Figure 8 names.
_MANDARIN, _SAGE = "#F28C38", "#8FAE8B"
_ERROR: Any = {"color": "#333333", "linewidth": 1.0, "capsize": 2, "fmt": "none"}


def of_first_model(draw: Draw) -> Draw:
    """The figure of the first model of a table."""
    return lambda table, drawn: draw(_of_model(table, 0), drawn)


def _of_model(table: Rows, place: int) -> Rows:
    named = table["family"].dropna() if "family" in table else []
    return table[table["family"] == list(dict.fromkeys(named))[place]] if len(named) else table


def _bars(panel: Any, rows: Rows, shift: float, width: float, names: tuple[str, str, str], **style: Any) -> None:
    """Bars of a column with its interval (`names`: value, low, high), `shift` beside 0, 1, ..."""
    value, low, high = (rows[name].astype(float).to_numpy() for name in names)
    places = [place + shift for place in range(len(rows))]
    panel.bar(places, value, width, **style)
    panel.errorbar(places, value, [(value - low).clip(0), (high - value).clip(0)], **_ERROR)
    panel.axhline(0, color="#333333", linewidth=0.8)


def draw_gains(table: Rows, drawn: Drawn) -> Figure:
    """Figure 8: mean gain by checkpoint and group, with the 90 % interval over sets."""
    rows = _of_model(table, 0)
    if "family" not in table or table["family"].isna().all():
        return nothing(table, drawn)
    figure, axes = panels(1, 1, width=5.6, height=3.0)
    groups = (("pretrain", "pre-training, SciQ twice", _MANDARIN, -0.2), ("finetune", "fine-tuning", _SAGE, 0.2))
    for name, label, colour, shift in groups:
        column = f"learned_in_{name}"
        label += "" if rows[column].notna().any() else f" (no set at scale {drawn.scale})"
        names = (column, f"low_{column}", f"high_{column}")
        _bars(axes[0][0], rows, shift, 0.38, names, color=colour, label=f"learned in {label}")
    ticks = [short_step(int(name)) if name.isdigit() else name for name in map(str, rows["ckpt"])]
    axes[0][0].set_xticks(range(len(rows)), ticks)
    axes[0][0].set(xlabel="checkpoint", ylabel="fine-tuned minus base (points)")
    return _finished(figure, axes, f"{rows['family'].iloc[0]}, 90 % interval over sets, scale {drawn.scale}")


def draw_ood(table: Rows, drawn: Drawn) -> Figure:
    """Figure 5: bars of tasks with intervals, a point for each set; ratio left, difference right; the first model."""
    return _draw_ood(table, drawn, 0)


def draw_final_ood(table: Rows, drawn: Drawn) -> Figure:
    """Figure 15: the same of the last model at its final checkpoint."""
    return _draw_ood(table, drawn, -1)


def _draw_ood(table: Rows, drawn: Drawn, place: int) -> Figure:
    if "family" not in table or table["family"].isna().all():
        return nothing(table, drawn)
    rows = _of_model(table, place)
    rows = rows[(rows["checkpoints"] == "all") == (place == 0)]
    whole, single = rows[rows["eval"] == "all"], rows[rows["eval"] != "all"]
    figure, axes = panels(1, 2, width=3.7, height=2.8)
    tasks = list(whole["task"])
    columns = (("ratio", "ratio_low", "ratio_high"), ("difference", "low", "high"))
    for panel, names in zip(axes[0], columns, strict=True):
        _bars(panel, whole, 0, 0.6, names, color=CYCLE[5], label="task")
        places = [tasks.index(task) for task in single["task"]]
        panel.scatter(places, single[names[0]], s=18, color="#333333", zorder=3, label="one set")
        panel.set_xticks(range(len(tasks)), [task.replace("_", "\n") for task in tasks])
        panel.set_title(f"change: {names[0]}" + (" (points)" if names[0] == "difference" else ""))
    about = "" if place == 0 else f", checkpoint {next(iter(whole['checkpoints']), '')}"
    return _finished(figure, axes, f"{rows['family'].iloc[0]}{about}, scale {drawn.scale}")


def draw_final_formats(table: Rows, drawn: Drawn) -> Figure:
    """Figure 3: formats at the final checkpoint of the last model, before fine-tuning above, fine-tuned below."""
    if "family" not in table or table["family"].isna().all():
        return nothing(table, drawn)
    rows = _of_model(table, -1)
    rows = rows.assign(ckpt=rows["ckpt"].astype(str))
    last = last_checkpoint(rows["ckpt"])
    rows = rows[rows["ckpt"] == last]
    evals, formats = list(dict.fromkeys(rows["eval"])), sorted(set(rows["fmt"]))
    figure, axes = panels(2, 1, width=6.0, height=2.1)
    for (panel,), tuned in zip(axes, (False, True), strict=True):
        part = rows[(rows["train"] != BASE) == tuned]
        for number, fmt in enumerate(formats):
            shift, width = (number - (len(formats) - 1) / 2) * 0.8 / len(formats), 0.74 / len(formats)
            known = part[part["fmt"] == fmt].drop_duplicates("eval").set_index("eval").reindex(evals)
            _bars(panel, known, shift, width, ("performance", "low", "high"), color=CYCLE[number], label=fmt)
        panel.set_xticks(range(len(evals)), evals, fontsize=7.5)
        panel.set(title="fine-tuned" if tuned else "before fine-tuning", ylabel="score (%)", ylim=(0, 100))
    return _finished(figure, axes, f"{rows['family'].iloc[0]}, checkpoint {last}, scale {drawn.scale}")


def _finished(figure: Figure, axes: list[list[Any]], title: str) -> Figure:
    figure.suptitle(title)
    shared_legend(figure, [panel for row in axes for panel in row])
    return figure
