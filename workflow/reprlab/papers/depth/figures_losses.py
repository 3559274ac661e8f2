"""Figures 2, 3, 7, 8, 9 and 10, and the ablations of defects: losses by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from reprlab.reporting.figures import COLOURS, CYCLE, MARKERS, draw_curve, panels, say, shared_legend, step_axis
from reprlab.results.frame import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn

_PARTS = {
    "loss": ("total", "#D55E00", "s"),
    "reconstruction_loss": ("reconstruction", "#E69F00", "^"),
    "sentence_loss": ("sentence", "#009E73", "D"),
    "sentence_loss_shuffled": ("sentence, shuffled", "#CC79A7", "v"),
    "sentence_loss_unshuffled": ("sentence, in order", "#56B4E9", "P"),
}
_INITS = {"fs": "From scratch", "cpt": "Continued"}


def draw_losses(ours: Rows, drawn: Drawn) -> Figure:
    """Validation loss of T5, and total and reconstruction loss of DEPTH."""
    figure, [[panel]] = panels(1, 1, width=5.4, height=3.3)
    if _empty(panel, ours):
        return figure
    t5, depth = (ours[ours["model"] == model] for model in ("t5", "depth"))
    _curve(panel, t5, "loss", color=COLOURS["t5"], marker="o", label="T5")
    _curve(panel, depth, "loss", color=COLOURS["depth"], marker="s", label="DEPTH, total")
    _curve(panel, depth, "reconstruction_loss", color="#E69F00", marker="^", label="DEPTH, reconstruction")
    if drawn.scale == "paper" and "fs" in set(ours["init"]):
        stated = (
            drawn.printed["statements"]
            .query("init == 'fs' and model == 't5' and quantity == 'validation_loss'")
            .iloc[0]
        )
        panel.plot(
            float(stated["step"]),
            float(stated["value"]),
            marker="*",
            markersize=10,
            color=COLOURS["t5"],
            alpha=0.5,
            linestyle="",
            label="T5, printed",
        )
    _label(panel, ours, f"{_INITS[ours['init'].iloc[0]]} ({drawn.scale}): validation loss")
    shared_legend(figure, [panel])
    return figure


def draw_decomposition(ours: Rows, drawn: Drawn) -> Figure:
    """DEPTH's loss, its two parts, and the sentence loss that chance order gives."""
    present = [init for init in _INITS if "init" in ours and init in set(ours["init"])] or ["fs"]
    figure, [axes] = panels(1, len(present), width=4.2, height=3.3)
    for panel, init in zip(axes, present, strict=True):
        if _empty(panel, ours):
            break
        rows = ours[ours["init"] == init]
        for column, (name, colour, marker) in _PARTS.items():
            _curve(panel, rows, column, color=colour, marker=marker, label=name)
        chance = rows["chance_sentence_loss"].dropna()
        if len(chance):
            panel.axhline(
                chance.mean(), color="#333333", linestyle=":", linewidth=1.3, label="sentence loss by chance order"
            )
        panel.set_ylim(bottom=0)
        _label(panel, rows, f"{_INITS[init]} ({drawn.scale})")
    shared_legend(figure, axes)
    return figure


def draw_packing(ours: Rows, drawn: Drawn) -> Figure:
    """Training loss of T5 by packing and learning rate."""
    figure, [[panel]] = panels(1, 1, width=5.6, height=3.4)
    if _empty(panel, ours):
        return figure
    colours = dict(zip(sorted(ours["lr"].unique(), reverse=True), ("#D55E00", "#0072B2"), strict=False))
    for (packing, rate), rows in ours.groupby(["packing", "lr"], sort=True):
        label = f"{'packing' if packing == 'yes' else 'no packing'}, lr {rate:g}"
        label += " (diverged)" if (rows["diverged"] == "yes").any() else ""
        dash = "-" if packing == "yes" else "--"
        draw_curve(
            panel, rows, "loss", low="", high="", color=colours.get(rate, "#777777"), linestyle=dash, label=label
        )
    panel.set_title(f"T5 from scratch ({drawn.scale}): training loss")
    panel.set_xlabel("pre-training step")
    panel.set_ylabel("loss (nats)")
    shared_legend(figure, [panel])
    return figure


def draw_variants(titles: Mapping[str, str]) -> Callable[[Rows, Drawn], Figure]:
    """A panel for each column of `titles`, a curve for each variant of a side experiment."""

    def draw(ours: Rows, drawn: Drawn) -> Figure:
        rows = 2 if len(titles) > 2 else 1
        figure, grid = panels(rows, len(titles) // rows, width=3.6, height=2.6)
        axes = [panel for row in grid for panel in row]
        for panel, (column, title) in zip(axes, titles.items(), strict=True):
            if _empty(panel, ours):
                continue
            for number, variant in enumerate(dict.fromkeys(ours["variant"])):
                chosen = ours[ours["variant"] == variant]
                _curve(panel, chosen, column, color=CYCLE[number], marker=MARKERS[number], label=variant)
            _label(panel, ours, f"{title} ({drawn.scale})", "percent" if "accuracy" in column else "nats")
        shared_legend(figure, axes)
        return figure

    return draw


def _curve(panel: Axes, rows: Rows, column: str, **style: Any) -> None:
    draw_curve(panel, rows, column, low=f"{column}_low", high=f"{column}_high", **style)


def _label(panel: Axes, rows: Rows, title: str, unit: str = "loss (nats)") -> None:
    panel.set_title(title)
    panel.set_xlabel("pre-training step")
    panel.set_ylabel(unit)
    step_axis(panel, rows["step"].dropna().tolist())


def _empty(panel: Axes, ours: Rows) -> bool:
    if "step" in ours and ours["step"].notna().any():
        return False
    say(panel, str(ours["note"].iloc[0]) if len(ours) else "not run")
    return True
