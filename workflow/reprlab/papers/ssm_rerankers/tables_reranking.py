"""Tables that are not a selection of the frame, figures of operators, and our side of the printed tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Find, Own, about
from reprlab.results.figures import nothing
from reprlab.results.frame import Frame, Rows
from reprlab.results.table_forms import Pivot
from reprlab.retrieval.memory_limits import OUT_OF_MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn

# Rows of Table 2 that repeat those of smaller models digit for digit (specification, 8.1).
_REPEATED = {"Mamba-1-1.4B": "Mamba-1-370M", "Mamba-2-1.3B": "Mamba-2-370M"}
# Columns of the printed tables to the splits that fill them; DL20 has a data set of its own, by the end of its name.
_SPLITS = {"dev": "validation", "dl19": "test", "dl20": "test"}
_DL20 = "_dl20"
_PARTS = {
    "table2": "in_domain", "table3": "out_of_domain", "table4": "document", "table5": "speed", "table7": "in_domain",
    "table8": "document",
}  # fmt: skip
_SHOWN = 8
# Panels of operators that are beside each other: their names take room.
_COLUMNS = 3
_OUT_OF_DOMAIN = Pivot(rows="model", across="dataset", about="scale n", over="seed", beside="data above_trivial")
_ORDERS = Pivot(
    rows="model order dataset split",
    across="metric",
    about="scale n steps tokens",
    over="seed",
    beside="low high above_trivial data",
)


def orders(frame: Frame) -> Rows:
    """Models that are read in several orders, each as the paper has it first."""
    read = frame.rows[frame.rows["order"] != ""]
    return _ORDERS(replace(frame, rows=frame.rows[frame.rows["model"].isin(read["model"])]))


def out_of_domain(frame: Frame) -> Rows:
    """A row for each model, a column for each data set, and their mean where a model has all of them."""
    table = _OUT_OF_DOMAIN(frame)
    datasets = [name for name in dict.fromkeys(frame.select()["dataset"]) if name in table]
    table.insert(1 + len(datasets), "average", table[datasets].mean(axis=1, skipna=False) if datasets else None)
    return table


def by_attention(draw: Callable[[Rows, Drawn], Figure]) -> Callable[[Rows, Drawn], Figure]:
    """A figure in which a model with eager attention is a model of its own."""

    def drawing(table: Rows, drawn: Drawn) -> Figure:
        if "attention" in table:
            from reprlab.papers.ssm_rerankers.names import LABELS

            eager = table["model"].map(lambda name: f"{LABELS.get(name, name)}, eager attention")
            table = table.assign(model=table["model"].where(table["attention"] != "eager", eager))
        return draw(table, drawn)

    return drawing


def draw_operators(table: Rows, drawn: Drawn) -> Figure:
    """The operators that take most of the time of each model (Figure 2), the rest as one bar."""
    from reprlab.reporting.figures import CYCLE, panels

    if "share" not in table or table["share"].isna().all():
        return nothing(table, drawn)
    table = table[table["share"].notna()]
    groups = list(table.groupby("model", sort=False))
    columns = min(len(groups), _COLUMNS)
    figure, axes = panels(-(-len(groups) // columns), columns, width=4.8, height=2.8)
    places = [panel for row in axes for panel in row]
    for panel in places[len(groups) :]:
        panel.set_visible(False)
    for panel, (name, rows) in zip(places, groups, strict=False):
        best = rows.sort_values("share", ascending=False).head(_SHOWN)[::-1]
        names = ["other operators", *best["operator"].str.removeprefix("aten::")]
        panel.barh(names, [100 - best["share"].sum(), *best["share"]], color=CYCLE[0])
        panel.set_title(str(name))
        panel.set_xlabel("Share of time (%)")
    return figure


def reranked(table: str, dev: str) -> Find:
    """The comparison of a table whose columns are dev (with the metric `dev`), DL19 and DL20 (nDCG@10)."""

    def find(own: Own, row: Cell, column: str) -> Counterpart:
        where = {"model": _key(row["model"]), "split": _SPLITS[column]}
        if "truncation" in row:
            where["truncation"] = row["truncation"]
        found = _cell(own, table, where, dev if column == "dev" else "ndcg_at_10", asked=column)
        if found.ours and table == "table2" and row["model"] in _REPEATED:
            repeated = f"no target: the paper repeats its row of {_REPEATED[row['model']]} here"
            return Counterpart(found.ours, f"{found.note}; {repeated}")
        return found

    return find


def beir(own: Own, row: Cell, column: str) -> Counterpart:
    """Our nDCG@10 beside a cell of Tables 3 and 11."""
    return _cell(own, "table3", {"model": _key(row["model"])}, column if column == "average" else f"beir_{column}")


def first_stage(table: str, dev: str, part: str, depths: Mapping[str, int]) -> Find:
    """The comparison of Table 7 or 8; `depths` has the depth of each column's recall, which meets ours at no other."""

    def find(own: Own, row: Cell, column: str) -> Counterpart:
        name, _, kind = column.partition("_")
        metric = {"mrr": dev, "ndcg": "ndcg_at_10", "recall": f"recall_at_{depths[name]}"}[kind]
        where = {"model": _key(row["retriever"]), "split": _SPLITS[name], "part": part}
        cell = _cell(own, table, where, metric, asked=name)
        depths_of_ours = [one for one in own.table(table) if one.startswith("recall_at_")]
        others = [one for one in depths_of_ours if _cell(own, table, where, one, asked=name).ours]
        if kind == "recall" and not cell.ours and others:
            return Counterpart("", f"printed at a depth of {depths[name]}, ours at {others[0].rpartition('_')[2]}")
        return cell

    return find


def speed(own: Own, row: Cell, column: str) -> Counterpart:
    """Our queries a second beside a cell of Table 5, with fused attention; other hardware, and random tokens."""
    name = _key(row["model"])
    where = {"model": name, "length": row["length"], "attention": "none" if name.startswith("mamba") else "sdpa"}
    ours = own.table("table5")
    for factor, value in where.items():
        ours = ours[ours[factor].astype(str) == value]
    if ours["reason"].str.startswith(OUT_OF_MEMORY).any():
        return Counterpart("OOM", f"scale {own.frame.scale}; {ours['reason'].iloc[0]}")
    return _cell(own, "table5", where, column, places=2)


def _cell(own: Own, table: str, where: dict[str, str], column: str, places: int = 1, *, asked: str = "") -> Counterpart:
    if not where["model"]:
        return Counterpart("", "quoted by the paper from others; not built here")
    ours = own.table(table)
    if asked and "dataset" in ours:
        ours = ours[ours["dataset"].astype(str).str.endswith(_DL20) == (asked == "dl20")]
    for name, value in where.items():
        ours = ours[ours[name].astype(str) == value] if name in ours else ours.iloc[:0]
    if column not in ours or ours[column].isna().all():
        missing = own.missing(model=where["model"], part=_PARTS[table])
        unfit = missing.note.startswith(OUT_OF_MEMORY)
        return Counterpart("OOM", f"scale {own.frame.scale}; {missing.note}") if unfit else missing
    cell = ours.iloc[0]
    return Counterpart(f"{cell[column]:.{places}f}", about(cell, column, own.frame.scale))


def _key(printed: str) -> str:
    from reprlab.papers.ssm_rerankers.names import LABELS

    return {label: key for key, label in LABELS.items()}.get(printed, "")
