"""Pairs of our numbers and printed ones."""

from __future__ import annotations

from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Find, Own, about
from reprlab.results.frame import Rows

# Half of the last printed place: a union whose reduction is nearer is printed so.
_HALF = 0.05
_MILLIONS = ("embedding", "total")


def _beside(table: str, *keys: str, places: int = 1) -> Find:
    """The cell of our table with the same keys, of the compared union of splits; with the counts of all unions."""

    def find(own: Own, row: Cell, column: str) -> Counterpart:
        ours = own.rows(table, **{key: row[key] for key in keys})
        known = ours[ours["compared"] == "yes"] if "compared" in ours else ours
        known = known[known[column].notna()] if column in known else known.iloc[:0]
        if known.empty:
            where = {"column": column, **{key: row[key] for key in keys if key in own.frame.factors}}
            return own.missing(table=table, **where)
        cell = known.iloc[0]
        # The row counts the examples of all columns.
        notes = [about(cell.drop("n"), column, own.frame.scale), *_run(cell), *_counts(own, ours, row, column)]
        return Counterpart(f"{float(cell[column]):.{places}f}", "; ".join(notes))

    return find


def _run(cell: Rows) -> list[str]:
    if "finetune_s" in cell:
        return [f"{cell['model']}, {cell['steps']} steps"]
    return [f"tokenizer of {cell['tokenizer']}"] if "tokenizer" in cell else []


def _counts(own: Own, unions: Rows, row: Cell, column: str) -> list[str]:
    """The compared union, and different tokens of each; with the paper's own data, whether it is printed so."""
    if "compared" not in unions:
        return []
    notes, said = [f"splits {own.frame.options['compared']}"], []
    for _, union in unions[unions[column].notna()].iterrows() if f"used_{column}" in unions else ():
        fits = abs(float(union[column]) - float(row[column])) <= _HALF + 1e-9
        verdict = "" if own.frame.scale != "paper" else " (as printed)" if fits else " (not as printed)"
        said.append(f"{union['splits']} {int(union[f'used_{column}']):,}{verdict}")
    return [*notes, f"used tokens: {', '.join(said)}"] if said else notes


def _size(table: str) -> Find:
    def find(own: Own, row: Cell, column: str) -> Counterpart:
        ours = own.rows(table, model=row["model"])
        if ours.empty:
            return own.missing(f"not listed at scale {own.frame.scale}; the audit counts it")
        value = float(ours.iloc[0][column]) / (1e6 if column in _MILLIONS else 1)
        places = 1 if column in (*_MILLIONS, "share") else 0
        return Counterpart(f"{value:.{places}f}", "counted from the configuration")

    return find


def _token(own: Own, row: Cell, column: str) -> Counterpart:
    ours = own.table("table1_unseen_tokens")
    found = ours[ours["token"] == row["token"]]
    if found.empty:
        corpus = ", ".join(sorted(set(ours["data"].dropna()))) or "our table, which has no corpus at this scale"
        return own.missing(f"not among the tokens of {corpus}; the audit looks at the ids")
    return Counterpart(str(found.iloc[0]["id"]), about(found.iloc[0], column, own.frame.scale))


OURS: dict[str, Find] = {
    "table1_unseen_tokens": _token,
    "table2_reduction": _beside("table2_reduction", "model", "kind"),
    "table3_deberta_sizes": _beside("table3_deberta_sizes", "model"),
    "table4_xnli": _beside("table4_xnli", "model", "kind"),
    "table5_models": _size("table5_models"),
    "table6_deberta": _size("table6_deberta"),
    "table9_runtime": _beside("table9_runtime", "task"),
    "table10_glue": _beside("table10_glue", "model", "pema"),
}
