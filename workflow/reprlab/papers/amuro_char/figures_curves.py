"""Curves along pre-training. Checkpoints stand side by side: they are not uniform in steps, and `main` is 20 steps
behind its neighbour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.papers.amuro_char.figures_names import give_title, name_of_data
from reprlab.papers.amuro_char.names import BASE, checkpoint_order
from reprlab.reporting.figures import CYCLE, MARKERS, panels, say, shared_legend, short_step

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BASE_COLOUR, TUNED_COLOUR = "#D55E00", "#0072B2"
_COLUMNS = 4
_METRICS = {"accuracy": "accuracy", "rougeL": "ROUGE-L"}


def draw_curves(frame: pandas.DataFrame, figure: str, scale: str) -> Figure:
    """One panel for each pair: un-tuned dashed, fine-tuned solid, with the intervals of the scores."""
    rows = frame[frame["figure"] == figure]
    drawn = [
        (family, eval, train, part)
        for (family, eval, train), part in rows.groupby(["family", "eval", "pair"], sort=False)
    ]
    ladders = {family for family, _, _, part in drawn if part["ckpt"].nunique() > 1}
    drawn = [one for one in drawn if one[0] in ladders] or drawn
    made, axes = _grid(len(drawn))
    for panel, (family, eval, train, part) in zip(axes, drawn, strict=False):
        order = _axis(panel, part)
        # Dashes in front, so that equal curves are seen to be two.
        for name, model, colour, style, layer in (
            (BASE, "before fine-tuning", BASE_COLOUR, "--", 4),
            (train, "fine-tuned", TUNED_COLOUR, "-", 3),
        ):
            shown: dict[str, Any] = {"label": model, "color": colour, "linestyle": style, "zorder": layer}
            _line(panel, part[part["train"] == name], order, marker="o", **shown)
        _majority(panel, part)
        title = f"{eval} after {train}" + (f" ({family})" if len(ladders) > 1 else "")
        _name(panel, title, part)
    give_title(made, figure, scale, ", ".join(dict.fromkeys(str(family) for family, *_ in drawn)))
    return _finished(made, axes, len(drawn), f"no such runs at scale {scale}")


def draw_formats(frame: pandas.DataFrame, figure: str, scale: str) -> Figure:
    """One panel for each set: a colour for each format, un-tuned dashed, fine-tuned solid."""
    family = next(iter(frame["family"]), "")
    drawn = list(frame[frame["family"] == family].groupby("eval", sort=False))
    made, axes = _grid(len(drawn))
    for panel, (eval, part) in zip(axes, drawn, strict=False):
        order = _axis(panel, part)
        for (fmt, of_format), colour, marker in zip(part.groupby("fmt"), CYCLE, MARKERS, strict=False):
            for tuned, style, model in ((False, "--", "before"), (True, "-", "fine-tuned")):
                rows = of_format[(of_format["train"] != BASE) == tuned]
                _line(panel, rows, order, False, label=f"{fmt}, {model}", color=colour, linestyle=style, marker=marker)
        _majority(panel, part)
        _name(panel, str(eval), part)
    give_title(made, figure, scale, family)
    return _finished(made, axes, len(drawn), f"no such runs at scale {scale}")


def draw_fewshot(frame: pandas.DataFrame, figure: str, scale: str) -> Figure:
    """Above: each set with the usual number of demonstrations, by group. Below: means over sets by that number."""
    family = next(iter(frame["family"]), "")
    frame = frame[frame["family"] == family]
    made, grid = panels(2, 2, width=3.7, height=2.6)
    above, below = grid
    titles = {"improving": "(a) improving in the paper", "flat": "(b) flat in the paper"}
    for panel, mean, (group, title) in zip(above, below, titles.items(), strict=True):
        rows = frame[frame["group"] == group]
        usual = rows[rows["headline"]]
        order = _axis(panel, frame)
        _axis(mean, frame)
        panel.set(title=title, ylabel="score", ylim=(0, 1))
        if usual.empty:
            say(panel, f"no such set at scale {scale}")
            say(mean, f"no such set at scale {scale}")
            continue
        for (eval, part), colour, marker in zip(usual.groupby("eval", sort=False), CYCLE, MARKERS, strict=False):
            _line(panel, part, order, label=str(eval), color=colour, marker=marker)
        panel.legend(fontsize=7, ncols=2, loc="best")
        _means_by_shots(mean, rows, order)
        mean.set(title=f"{group}: mean of sets, by demonstrations", ylabel="score", ylim=(0, 1))
    give_title(made, figure, scale, family)
    return made


def _means_by_shots(panel: Axes, rows: pandas.DataFrame, order: dict[str, int]) -> None:
    # The same sets for all numbers of demonstrations.
    counts = rows.groupby("eval")["shots"].nunique()
    common = rows[rows["eval"].isin(counts[counts == rows["shots"].nunique()].index)]
    for (shots, part), colour, marker in zip(common.groupby("shots"), CYCLE, MARKERS, strict=False):
        mean = part.groupby("ckpt")[["performance"]].mean().reset_index()
        _line(panel, mean, order, False, label=f"{shots} shots", color=colour, marker=marker)
    if len(common):
        panel.legend(fontsize=7, ncols=2, loc="best")
    else:
        say(panel, "one number of demonstrations")


def _grid(count: int) -> tuple[Figure, list[Axes]]:
    columns = min(_COLUMNS, max(1, count))
    made, grid = panels(-(-max(1, count) // columns), columns, width=2.9, height=2.2)
    return made, [panel for row in grid for panel in row]


def _name(panel: Axes, title: str, rows: pandas.DataFrame) -> None:
    panel.set_title(f"{title}\n{name_of_data(rows['data'])}", fontsize=7.5)
    panel.set_ylabel(_METRICS.get(rows["metric"].iloc[0], "score"))


def _finished(made: Figure, axes: list[Axes], used: int, nothing: str) -> Figure:
    for panel in axes[max(used, 1) :]:
        panel.set_visible(False)
    if not used:
        say(axes[0], nothing)
    shared_legend(made, axes)
    return made


def _axis(panel: Axes, rows: pandas.DataFrame) -> dict[str, int]:
    """Place of each checkpoint, with its name as tick."""
    names = sorted(set(rows["ckpt"]), key=checkpoint_order)
    labels = [name if not name.isdigit() else short_step(int(name)) for name in names]
    panel.set_xticks(range(len(names)), labels, rotation=45 if len(names) > 5 else 0, fontsize=7.5)
    panel.set_xlabel("checkpoint")
    panel.set_xlim(-0.4, max(len(names) - 0.6, 0.4))
    return {name: place for place, name in enumerate(names)}


def _line(panel: Axes, rows: pandas.DataFrame, order: dict[str, int], band: bool = True, **style: Any) -> None:
    if rows.empty:
        return
    rows = rows.assign(place=[order[name] for name in rows["ckpt"]]).sort_values("place")
    panel.plot(rows["place"], rows["performance"], **style)
    if band:
        panel.fill_between(rows["place"], rows["low"], rows["high"], color=style["color"], alpha=0.15, linewidth=0)


def _majority(panel: Axes, rows: pandas.DataFrame) -> None:
    known = rows["majority"].dropna()
    if len(known):
        panel.axhline(known.iloc[0], color="#666666", linestyle=":", linewidth=1.1, label="most frequent class")
