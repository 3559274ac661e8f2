"""Bars: gains by group of sets, change out of domain, formats at the final checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.papers.amuro_char.figures_names import give_title
from reprlab.papers.amuro_char.names import BASE, checkpoint_order
from reprlab.reporting.figures import CYCLE, panels, say, shared_legend, short_step

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

# The colours that the caption of Figure 8 names.
_MANDARIN, _SAGE = "#F28C38", "#8FAE8B"
_ERROR: Any = {"color": "#333333", "linewidth": 1.0, "capsize": 2}


def draw_gains(frame: pandas.DataFrame, figure: str, scale: str) -> Figure:
    """Figure 8: mean gain by checkpoint and group, with the 90 % interval over sets."""
    import numpy as np

    made, axes = panels(1, 1, width=5.6, height=3.0)
    panel = axes[0][0]
    family = next(iter(frame["family"]), "")
    rows = frame[frame["family"] == family]
    rows = rows.set_index("ckpt", drop=False).loc[sorted(rows["ckpt"], key=checkpoint_order)]
    places = np.arange(len(rows))
    groups = (
        ("learned_in_pretrain", "learned in pre-training, SciQ twice", _MANDARIN, -0.2),
        ("learned_in_finetune", "learned in fine-tuning", _SAGE, 0.2),
    )
    for name, label, colour, shift in groups:
        known = rows[name].notna().to_numpy()
        if not known.any():
            label += f" (no set at scale {scale})"
        values = rows[name].astype(float).to_numpy()
        panel.bar(places[known] + shift, values[known], 0.38, color=colour, label=label)
        if not known.any():
            panel.plot([], [], color=colour, label=label)
        low, high = (rows[f"{end}_{name}"].astype(float).to_numpy() for end in ("low", "high"))
        bounded = known & ~np.isnan(low)
        reach = [values[bounded] - low[bounded], high[bounded] - values[bounded]]
        panel.errorbar(places[bounded] + shift, values[bounded], np.clip(reach, 0, None), fmt="none", **_ERROR)
    panel.axhline(0, color="#333333", linewidth=0.8)
    panel.set_xticks(places, [_named(name) for name in rows["ckpt"]])
    panel.set(xlabel="checkpoint", ylabel="fine-tuned minus base")
    give_title(made, figure, scale, f"{family}, 90 % interval over sets")
    shared_legend(made, [panel])
    return made


def draw_ood(frame: pandas.DataFrame, figure: str, scale: str) -> Figure:
    """Figures 5 and 15: bars of tasks with 95 % intervals, a point for each set; ratio at the left, difference right.

    Figure 5 shows the first model over its checkpoints, Figure 15 the last one's final checkpoint.
    """
    made, axes = panels(1, 2, width=3.7, height=2.8)
    families = list(dict.fromkeys(frame["family"]))
    if not families:
        say(axes[0][0], f"no such runs at scale {scale}")
        axes[0][1].set_visible(False)
        return made
    family = families[0] if figure == "fig5" else families[-1]
    rows = frame[(frame["family"] == family) & ((frame["checkpoints"] == "all") == (figure == "fig5"))]
    whole = rows[rows["eval"] == "all"]
    tasks = list(whole["task"])
    columns = (("ratio", "ratio_low", "ratio_high"), ("difference", "low", "high"))
    for panel, (column, low, high) in zip(axes[0], columns, strict=True):
        panel.bar(range(len(tasks)), whole[column], 0.6, color=CYCLE[5], label="task")
        reach = [(whole[column] - whole[low]).clip(lower=0), (whole[high] - whole[column]).clip(lower=0)]
        panel.errorbar(range(len(tasks)), whole[column], [one.fillna(0) for one in reach], fmt="none", **_ERROR)
        single = rows[rows["eval"] != "all"]
        places = [tasks.index(task) for task in single["task"]]
        panel.scatter(places, single[column], s=18, color="#333333", zorder=3, label="one set")
        panel.axhline(0, color="#333333", linewidth=0.8)
        panel.set_xticks(range(len(tasks)), [task.replace("_", "\n") for task in tasks])
        panel.set_title(f"change: {column}")
    checkpoint = "" if figure == "fig5" else f", checkpoint {next(iter(whole['checkpoints']), '')}"
    give_title(made, figure, scale, f"{family}{checkpoint}")
    shared_legend(made, axes[0])
    return made


def draw_final_formats(frame: pandas.DataFrame, figure: str, scale: str) -> Figure:
    """Figure 3: formats at the final checkpoint of the last model, before fine-tuning above, fine-tuned below."""
    import numpy as np

    families = list(dict.fromkeys(frame["family"]))
    made, axes = panels(2, 1, width=6.0, height=2.1)
    if not families:
        say(axes[0][0], f"no such runs at scale {scale}")
        axes[1][0].set_visible(False)
        return made
    rows = frame[frame["family"] == families[-1]]
    last = max(rows["ckpt"], key=checkpoint_order)
    rows = rows[rows["ckpt"] == last]
    evals, formats = list(dict.fromkeys(rows["eval"])), sorted(set(rows["fmt"]))
    width = 0.8 / len(formats)
    for (panel,), tuned in zip(axes, (False, True), strict=True):
        part = rows[(rows["train"] != BASE) == tuned].set_index(["fmt", "eval"])
        for number, fmt in enumerate(formats):
            places = np.arange(len(evals)) + (number - (len(formats) - 1) / 2) * width
            index = [(fmt, eval) for eval in evals]
            known = part.reindex(index)
            panel.bar(places, known["performance"], width * 0.92, color=CYCLE[number], label=fmt)
            reach = [(known["performance"] - known["low"]).clip(lower=0), known["high"] - known["performance"]]
            panel.errorbar(places, known["performance"], [one.fillna(0) for one in reach], fmt="none", **_ERROR)
        panel.set_xticks(range(len(evals)), evals, fontsize=7.5)
        panel.set(title="fine-tuned" if tuned else "before fine-tuning", ylabel="score", ylim=(0, 1))
    give_title(made, figure, scale, f"{families[-1]}, checkpoint {last}")
    shared_legend(made, [row[0] for row in axes])
    return made


def _named(name: str) -> str:
    return short_step(int(name)) if name.isdigit() else name
