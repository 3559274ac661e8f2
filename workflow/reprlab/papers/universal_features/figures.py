"""Figures of universal features that are not curves: the design, the flow of features, shaded tokens, histograms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from reprlab.reporting.figures import CYCLE, panels, shared_legend
from reprlab.results.figures import nothing
from reprlab.results.frame import Rows
from reprlab.results.records import Drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Column of each model of the lineage, and its height among those of the column.
_PLACES: dict[str, tuple[float, float]] = {"base": (0, 0.5), "lua": (1, 0.78), "stories": (1, 0.22), "merged": (2, 0.5)}
_EDGES = (("base", "lua"), ("base", "stories"), ("lua", "merged"), ("stories", "merged"))
_GREY, _SHOWN = "#bbbbbb", 88
# Longer runs of spaces are shown as long as this.
_RUN, _INDENT = re.compile(" {4,}"), 4


def design(table: Rows, drawn: Drawn) -> Figure:
    """Figure 1: the lineage, with the loss of each model on the text of both children."""
    if "loss" not in table or table["loss"].isna().all():
        return nothing(table, drawn)
    loss = table.groupby(["model", "corpus"])["loss"].mean()
    figure, grid = panels(1, 1, width=6.6, height=3.0)
    panel = grid[0][0]
    words = {
        "base": "base\nEnglish and Python", "lua": "fine-tuned on Lua", "stories": "fine-tuned on stories",
        "merged": "merged by slerp",
    }  # fmt: skip
    for one, two in _EDGES:
        (x, y), (to_x, to_y) = _PLACES[one], _PLACES[two]
        panel.annotate("", (to_x - 0.3, to_y), (x + 0.3, y), arrowprops={"arrowstyle": "->", "color": "#555555"})
    for model, (x, y) in _PLACES.items():
        found = [f"{corpus} {loss[model, corpus]:.2f}" for corpus in ("lua", "stories") if (model, corpus) in loss]
        text = f"{words[model]}\nloss: {', '.join(found)} nats"
        panel.text(
            x, y, text, ha="center", va="center", fontsize=8, bbox={"boxstyle": "round", "fc": "white", "ec": "#555555"}
        )
    panel.set(xlim=(-0.5, 2.5), ylim=(0, 1))
    panel.axis("off")
    figure.suptitle("An autoencoder is trained on each model.")
    return figure


def sankey(table: Rows, drawn: Drawn) -> Figure:
    """Figure 2: alive features of each model; bands are those that persist, with controls in words."""
    if "persisting" not in table or table["persisting"].isna().all():
        return nothing(table, drawn)
    threshold = min(table["threshold"].unique(), key=lambda one: abs(one - 0.8))
    rows = table[(table["threshold"] == threshold) & (table["positions"] == "all") & (table["match"] == "many")]
    mean = rows.groupby("edge", sort=False)[
        ["parent_alive", "child_alive", "persisting", "matched", "share_parent", "random", "again", "floor"]
    ].mean()
    largest = max(mean["parent_alive"].max(), mean["child_alive"].max())
    figure, grid = panels(1, 1, width=7.4, height=4.2)
    panel = grid[0][0]
    heights: dict[str, float] = {}
    for one, two in _EDGES:
        edge = mean.loc[f"{one}-{two}"]
        heights[one], heights[two] = 0.36 * edge["parent_alive"] / largest, 0.36 * edge["child_alive"] / largest
    for model, (x, y) in _PLACES.items():
        panel.bar(x, heights[model], 0.08, y - heights[model] / 2, color=_GREY, edgecolor="#555555")
        count = heights[model] * largest / 0.36
        panel.text(x, y + heights[model] / 2 + 0.02, f"{model}: {count:.0f} alive", ha="center", fontsize=8)
    for number, (one, two) in enumerate(_EDGES):
        edge = mean.loc[f"{one}-{two}"]
        _band(panel, _PLACES[one], _PLACES[two], 0.36 * edge["persisting"] / largest, 0.36 * edge["matched"] / largest,
              CYCLE[number % len(CYCLE)])  # fmt: skip
        x, y = (_PLACES[one][0] + _PLACES[two][0]) / 2, (_PLACES[one][1] + _PLACES[two][1]) / 2
        beside = {"random": "random dictionary", "floor": "floor", "again": "another autoencoder"}
        limits = [f"{word} {edge[name]:.0f} %" for name, word in beside.items() if edge[name] == edge[name]]
        text = f"{edge['share_parent']:.0f} % persist" + "".join(f"\n{limit}" for limit in limits)
        panel.text(x, y, text, ha="center", va="center", fontsize=7.5,
                   bbox={"boxstyle": "round", "fc": "white", "ec": "none", "alpha": 0.8})  # fmt: skip
    panel.set(xlim=(-0.25, 2.25), ylim=(0, 1.05))
    panel.axis("off")
    seeds = rows["seed"].nunique()
    figure.suptitle(f"Correlation from {threshold:g} on, mean of seeds ({seeds}); grey: disappeared or emerged")
    return figure


def _band(
    panel: Any, start: tuple[float, float], end: tuple[float, float], left: float, right: float, color: str
) -> None:
    import numpy as np

    along = np.linspace(0, 1, 40)
    ease = along**2 * (3 - 2 * along)
    x = start[0] + 0.04 + along * (end[0] - start[0] - 0.08)
    middle = start[1] + ease * (end[1] - start[1])
    half = (left + along * (right - left)) / 2
    panel.fill_between(x, middle - half, middle + half, color=color, alpha=0.45, linewidth=0)


def shaded(table: Rows, drawn: Drawn) -> Figure:
    """Figures 3 and 4: the tokens of some contexts, shaded by the activation of the feature in each model."""
    if "activation" not in table or table["activation"].isna().all():
        return nothing(table.assign(note=table.get("note", "no feature fits")), drawn)
    # Each seed has a feature and partners of its own: what one of them shows may not hold of the other.
    models = list(dict.fromkeys(zip(table["seed"], table["model"], strict=True)))
    lines = [
        ((seed, model), rows) for (seed, model, _), rows in table.groupby(["seed", "model", "context"], sort=False)
    ]
    figure, grid = panels(1, 1, width=9.6, height=0.7 + 0.24 * len(lines) + 0.32 * len(models))
    panel, last = grid[0][0], (None, "")
    height = 0.0
    for model, rows in lines:
        if model != last:
            height -= 1.5
            first = rows.iloc[0]
            text = f"{model[1]}: feature {first['partner']:.0f}"
            text += f" (seed {model[0]})" if model[0] != last[0] else f", r = {first['r']:.2f} with the model before it"
            panel.text(0, height, f"{text}; {first['mass_share']:.0f} % of its activation on such tokens",
                       fontsize=8, fontweight="bold", va="center")  # fmt: skip
            height, last = height - 1.1, model
        place = 0
        for token, level in zip(rows["token"], rows["activation"], strict=True):
            shown = _RUN.sub(lambda run: run[0][:_INDENT], token.replace("\n", "↵").replace("\t", "→"))
            if place + len(shown) > _SHOWN:
                break
            panel.add_patch(_box(place, height, len(shown), level))
            panel.text(place, height, shown.replace("$", r"\$"), family="monospace", fontsize=7.2, va="center")
            place += len(shown)
        height -= 1.0
    panel.set(xlim=(0, _SHOWN), ylim=(height, 0))
    panel.axis("off")
    share, sought = table["token_share"].iloc[0], table["sought"].iloc[0]
    figure.suptitle(f"{sought} ({share:.1f} % of its tokens)".replace("$", r"\$"))
    return figure


def _box(x: float, y: float, width: float, level: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y - 0.45), width, 0.9, color=CYCLE[1], alpha=0.75 * min(level, 100) / 100, linewidth=0)


def histograms(table: Rows, drawn: Drawn) -> Figure:
    """Figure 6: scores of all features of Lua, of those that persist when merged, and of foreign explanations."""
    import numpy as np

    if "score" not in table or table["score"].isna().all():
        return nothing(table, drawn)
    figure, grid = panels(1, 1, width=5.6, height=3.0)
    panel, bins = grid[0][0], np.linspace(-0.5, 1, 31).tolist()
    twin, table = (table[(table["dictionary"] == "random") == is_twin] for is_twin in (True, False))
    persisting = table[table["group"] == "persisting"]
    shown = {
        f"all ({len(table)})": table["score"],
        f"persisting ({len(persisting)})": persisting["score"],
        "explanation of another feature": table["score_other"],
        f"random dictionary ({len(twin)})": twin["score"],
    }
    for number, (label, values) in enumerate(shown.items()):
        panel.hist(values.dropna(), bins, histtype="step", color=CYCLE[number], label=label, linewidth=1.6)
    panel.set(xlabel="Correlation of simulated and true activation", ylabel="Features of Lua")
    shared_legend(figure, [panel])
    explainer = "; ".join(dict.fromkeys(table["explainer"]))
    figure.suptitle(f"Explainer: {explainer}")
    return figure
