"""Tables of reverse probing that are not a listing of the frame, our side of the printed ones, and its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about
from reprlab.results.figures import Axis, Bars, Curves
from reprlab.results.frame import Frame, Rows, chosen
from reprlab.results.records import Drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ABOUT = ("n", "steps", "tokens")
_F1 = Axis("f1", "CoNLL F1", low="low", high="high")
_COUNTED = {1: "single sources", 2: "pairs"}
NAMES = {"mrpc": "MRPC", "ner": "NER", "re": "RE", "qa": "QA", "bert": "BERT", "coref": "Coref"}


def _text(values: Any) -> str:
    return "; ".join(dict.fromkeys(str(one) for one in values if one))


def cells(frame: Frame) -> Rows:
    """One row for each combination, with mean and standard deviation over seeds (n - 1) of the F1 of each cell."""
    rows = frame.select()
    names = list(dict.fromkeys(rows["cell"]))
    lines = []
    for combo, part in rows.groupby("combo", sort=False):
        line: dict[str, Any] = {"combo": combo}
        found = part.groupby("cell", sort=False)
        for name in names:
            own = found.get_group(name) if name in found.groups else part.iloc[:0]
            line |= {name: own["value"].mean(), f"{name}_std": own["value"].std(ddof=1)}
            line |= {
                f"read_{name}": _text(own["read"]),
                **{f"{flag}_{name}": _text(own[flag]) for flag in ("above_trivial", "above_untrained")},
            }
        line |= {"seeds": part["seed"].nunique(), "rule": part["baseline_value"].max()}
        line |= {name: int(part[name].sum() if name != "n" else part[name].max()) for name in _ABOUT}
        lines.append(line | {"data": _text(part["data"]), "scale": frame.scale, "note": frame.reason(combo=str(combo))})
    return type(rows)(lines) if lines else type(rows)(columns=["combo", "scale", "note"])


def long_cells(frame: Frame) -> Rows:
    """One row for each combination and cell: mean over seeds, the range of the seeds, and their deviation."""
    rows = frame.select()
    keys = ["combo", "sources", "cell", "aggregation", "mode", "data"]
    found = rows.groupby(keys, sort=False)["value"].agg(["mean", "min", "max", "std", "count"]).reset_index()
    names = {"mean": "f1", "min": "low", "max": "high", "count": "seeds"}
    return found.rename(columns=names).assign(scale=frame.scale)


def by_layer(frame: Frame) -> Rows:
    """F1 by source and layer: mean, range and deviation over seeds."""
    rows = frame.select()
    found = rows.groupby(["combo", "layer", "data"], sort=False)["value"].agg(["mean", "min", "max", "std", "count"])
    names = {"mean": "f1", "min": "low", "max": "high", "count": "seeds"}
    return found.reset_index().rename(columns=names).assign(scale=frame.scale)


def sources(frame: Frame) -> Rows:
    """Figure 2: single sources by their mean, of the first seed and of all; coref with its own head, and rules."""
    lines, rows = [], frame.select()
    for combo, part in rows.groupby("combo", sort=False):
        first = part.sort_values("seed").iloc[0] if part["seed"].notna().any() else part.iloc[0]
        line = {
            "combo": combo,
            "first_seed": first["value"],
            "f1": part["value"].mean(),
            "seeds": part["seed"].nunique(),
        }
        # Of one run, the interval over documents; of several, their range.
        low, high = (first["low"], first["high"]) if len(part) == 1 else (part["value"].min(), part["value"].max())
        line |= {"low": low, "high": high, "data": _text(part["data"]), "scale": frame.scale}
        lines.append(line)
    return type(rows)(lines)


def similarity(frame: Frame) -> Rows:
    """Mean cosine over documents of each source with the coreference encoder, and its LogME, beside its F1 by the
    mean."""
    rows = frame.select(part="similarity", metric="cosine")
    evidence = frame.select(part="similarity", metric="logme").groupby("combo")["value"].mean()
    found = rows.groupby(["combo", "data"], sort=False)["value"].agg(["mean", "min", "max", "count"]).reset_index()
    found = found.rename(columns={"mean": "cosine", "min": "low", "max": "high", "count": "documents"})
    scores = frame.select(part="main", cell="mean_full", metric="conll_f1").groupby("combo")["value"].mean()
    about = {"logme": found["combo"].map(evidence), "f1": found["combo"].map(scores)}
    return found.assign(**about, scale=frame.scale)


def weights(frame: Frame) -> Rows:
    """Mean weight of each source by pass, over tokens and seeds; seeds that ended earlier are no longer counted."""
    rows = frame.select()
    keys = ["combo", "cell", "weighed", "epoch", "data"]
    found = rows.groupby(keys, sort=False)["value"].agg(["mean", "count"]).reset_index()
    return found.rename(columns={"mean": "share", "count": "seeds"}).assign(scale=frame.scale)


def _of(table: Rows, **where: Any) -> Rows:
    for column, values in where.items():
        table = table[table[column].isin(values if isinstance(values, list) else [values])]
    return table


def drawn_bars(line: str, panel: str = "", **where: Any) -> Any:
    """Bars of some cells of the long table."""

    def draw(table: Rows, about: Drawn) -> Figure:
        bars = Bars("combo", [_F1], "CoNLL F1", line=line, panel=panel)
        rows = _of(table, **where) if "cell" in table else table
        if line == "sources" and "sources" in rows:
            rows = rows.assign(sources=rows["sources"].map(_COUNTED))
        return bars(rows, about)

    return draw


def drawn_weights(table: Rows, about: Drawn) -> Figure:
    """Figure 9: the weights of the paper's three sources, or of the first combination of three, or of any."""
    three = table[table["combo"].astype(str).str.count(r"\+") == 2] if "combo" in table else table
    printed = table[table["combo"] == "mrpc+re+ner"] if "combo" in table else table
    shown = next((one for one in (printed, three, table) if len(one)), table)
    curves = Curves(Axis("epoch", "Pass"), [Axis("share", "Mean weight (%)")], "weighed", "combo cell")
    return curves(chosen(shown, {"combo": shown["combo"].iloc[0]}) if len(shown) else shown, about)


def in_cells(table: str) -> Any:
    """Our side of Tables 1 to 3: the same cell, or the deviation of the seeds."""

    def find(own: Own, row: Cell, column: str) -> Counterpart:
        return _counterpart(own, table, {"combo": row["models"]}, column, column.removesuffix("_std"))

    return find


def of_layers(own: Own, row: Cell, column: str) -> Counterpart:
    """Our side of the sweep, of which the columns are layers."""
    where = {"combo": row["models"], "layer": int(column.removeprefix("layer_"))}
    return _counterpart(own, "layers", where, "f1", "", part="layers")


def of_figure2(own: Own, row: Cell, column: str) -> Counterpart:
    """Our side of Figure 2: the first seed."""
    return _counterpart(own, "sources", {"combo": row["models"]}, "first_seed", "mean_full")


def of_sum(own: Own, row: Cell, column: str) -> Counterpart:
    """Our side of sum and mean of two sources."""
    return _counterpart(own, "scores", {"combo": row["models"], "cell": f"{column}_full"}, "f1", f"{column}_full")


def _counterpart(
    own: Own, table: str, where: Mapping[str, Any], column: str, cell: str, part: str = "main"
) -> Counterpart:
    ours = own.rows(table, **where)
    if column not in ours or ours[column].isna().all():
        alone = column.endswith("_std") and column.removesuffix("_std") in ours and len(ours) > 0
        if alone and ours[column.removesuffix("_std")].notna().any():
            return Counterpart("", "one seed has no deviation")
        asked = {"combo": str(where["combo"]), "part": part, **({"cell": cell} if cell else {})}
        return own.missing(**asked)
    return Counterpart(f"{float(ours.iloc[0][column]):.2f}", about(ours.iloc[0], column, own.frame.scale))
