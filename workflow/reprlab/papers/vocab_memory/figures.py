"""Figure 2, which is neither curves nor bars nor boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.reporting.figures import CYCLE, MARKERS, panels, shared_legend
from reprlab.results.figures import nothing
from reprlab.results.frame import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn


def draw_trend(table: Rows, drawn: Drawn) -> Figure:
    """Figure 2: unique tokens by tokens, a point for each data set, and the vocabulary's size as the limit."""
    if "unique" not in table or table["unique"].isna().all():
        return nothing(table, drawn)
    figure, axes = panels(1, 1, width=4.6, height=3.0)
    one = axes[0][0]
    style: dict[str, Any]
    for number, (tokenizer, rows) in enumerate(table.groupby("tokenizer", sort=False)):
        style = {"color": CYCLE[number % len(CYCLE)], "marker": MARKERS[number % len(MARKERS)], "linestyle": ""}
        one.plot(rows["tokens"], rows["unique"], label=f"{tokenizer} ({rows['vocabulary'].iloc[0]:,})", **style)
        one.axhline(rows["vocabulary"].iloc[0], color=CYCLE[number % len(CYCLE)], linestyle=":", linewidth=1)
    # One name for each data set, at its highest point; vocabularies grow with tokens, so there is room up and left.
    style = {"textcoords": "offset points", "fontsize": 7, "ha": "right", "rotation": -30, "rotation_mode": "anchor"}
    for top in table.sort_values("unique").drop_duplicates("task", keep="last").to_dict("records"):
        one.annotate(str(top["task"]), (top["tokens"], top["unique"]), (-3, 4), **style)
    one.set_xscale("log")
    one.set_xlim(left=table["tokens"].min() / 3)
    one.set_xlabel("tokens")
    one.set_ylabel("unique tokens")
    one.set_ylim(bottom=0)
    shared_legend(figure, [one])
    return figure
