"""Our side of what is known of the paper's numbers: the released sweep and the models' cards."""

from __future__ import annotations

from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about

# Printed column: corpus and column of ours, and decimals.
_SWEPT = {
    "stories_loss": ("stories", "loss", 4),
    "stories_accuracy": ("stories", "accuracy", 4),
    "lua_loss": ("lua", "loss", 4),
    "lua_accuracy": ("lua", "accuracy", 4),
}


def sweep_points(own: Own, row: Cell, column: str) -> Counterpart:
    """Our point of the sweep: theirs runs from stories to Lua, so that our t is 1 less theirs."""
    fraction = round(1 - float(row["t"]), 10)
    corpus, name, places = _SWEPT[column]
    table = own.table("fig5_slerp_sweep")
    if "t" not in table:
        return own.missing(part="models")
    return _mean(own, table[((table["t"] - fraction).abs() < 1e-9) & (table["corpus"] == corpus)], name, places)


def cards(own: Own, row: Cell, column: str) -> Counterpart:
    """Loss and accuracy of a model on its own text; the base's card does not say which of its corpora."""
    table = own.table("models")
    corpora = {"lua": ["lua"], "stories": ["stories"]}.get(row["model"])
    if corpora is None:
        corpora = [name for name in dict.fromkeys(table.get("corpus", [])) if name not in ("lua", "stories")]
    rows = own.rows("models", model=row["model"])
    return _mean(own, rows[rows["corpus"].isin(corpora)] if len(rows) else rows, column, 4)


def _mean(own: Own, rows: Cell, column: str, places: int) -> Counterpart:
    if rows.empty or rows[column].isna().all():
        return own.missing(part="models")
    value = rows[column].mean() / (100 if column == "accuracy" else 1)
    first = rows.iloc[0].copy()
    first["data"] = "; ".join(dict.fromkeys(rows["data"]))
    return Counterpart(f"{value:.{places}f}", about(first, column, own.frame.scale))
