"""What asr-adapters declares about its results: tables, figures, claims and printed tables."""

from typing import Any

from reprlab.papers.asr_adapters.claims import CLAIMS, TWINS
from reprlab.papers.asr_adapters.neighbours import NEIGHBOURS
from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about
from reprlab.results.figures import Axis, Curves
from reprlab.results.frame import Frame, Rows
from reprlab.results.table_forms import Listing, Pivot
from reprlab.results.words import results_of

_RATES = ("wer", "cer", "empty")
_TEST = {"split": "test", "metric": _RATES}
_BESIDE = "value low high n seen steps tokens baseline baseline_value above_trivial data scale"
_CELLS = Pivot(
    "language size model subset metric", "method", "scale seed n", "data low high above_trivial", over="seed",
    same_items=True,
)  # fmt: skip
_PARTS = ("adapters", "norms", "head", "trained", "backbone")


def shares(frame: Frame) -> Rows:
    """Counts of each model and method, and the trained share of encoder and head in percent."""
    rows = frame.select()
    wide = rows.pivot_table("value", ["model", "method"], "metric", sort=False).reset_index()
    if len(wide):
        wide = wide.astype(dict.fromkeys(_PARTS, "Int64"))
        wide["share"] = 100 * wide["trained"] / wide["backbone"]
    return type(rows)(wide).rename_axis(columns=None).assign(scale=frame.scale)


_TABLES: dict[str, tuple[Any, Any]] = {
    "table2": (_CELLS, {"part": "main", **_TEST}),
    "table4": (Listing(f"language size model method split subset metric {_BESIDE}"), {"part": "large"}),
    "table5": (Listing(f"language start method model size split subset metric {_BESIDE}"), {"part": "transfer"}),
    "figure2": (Listing(f"language depth model size metric {_BESIDE}"), {"part": "depth", **_TEST, "subset": ""}),
    "ablation_norm": (Listing(f"method language size model seed metric {_BESIDE}"), {"part": "ablation", **_TEST}),
    "rivals": (Listing(f"method language size model seed metric {_BESIDE}"), {"part": "rival", **_TEST}),
    "controls": (Listing(f"method model language size seed metric {_BESIDE}"), {"part": "control", **_TEST}),
    "parameters": (shares, {"part": "counts", "metric": _PARTS}),
    "data": (Listing("language size value method model seed data scale"), {"part": "data", "metric": "minutes"}),
    "scores": (Listing(f"language size model method seed subset metric {_BESIDE}"), {"part": "main", **_TEST}),
    "curves": (Listing("language size model method seed step loss=value data scale"), {"part": "curve"}),
    "transfer_curves": (Listing("language start step loss=value data scale"), {"part": "transfer curve"}),
}
_CER = Axis("value", "Character error rate (%)", low="low", high="high")
_UPDATE, _LOSS = Axis("step", "Update"), Axis("loss", "CTC loss")
_OVER_TEST = {"metric": "cer"}
_FIGURES: dict[str, tuple[Any, ...]] = {
    "fig2_layers": ("figure2", Curves(Axis("depth", "Layers"), [_CER], "language", "model", where=_OVER_TEST), "A9"),
    "fig_sizes": (
        "scores",
        Curves(Axis("size", "Minutes"), [_CER], "method", "language model", where=_OVER_TEST),
        "A4",
    ),
    "fig_curves": ("curves", Curves(_UPDATE, [_LOSS], "method", "language size")),
    "fig_transfer": (
        "transfer_curves",
        Curves(Axis("step", "Update"), [Axis("loss", "CTC loss")], "start", "language"),
    ),
}


def of_table2(own: Own, row: Cell, column: str) -> Counterpart:
    """Our word error rate of the same cell; whole sets have no parts."""
    subset = "" if row["subset"] == "all" else row["subset"]
    where = {"language": row["language"], "size": float(row["size"]), "model": row["model"], "subset": subset}
    method = "ft" if column == "ft" else row["method"]
    return _shown(own, own.rows("scores", **where, metric="wer", method=method))


def _of_split(table: str) -> Any:
    def find(own: Own, row: Cell, column: str) -> Counterpart:
        split, subset = column.split("_")
        split, subset = {"dev": "validation"}.get(split, split), subset if row["language"] == "en" else ""
        where = {name: row[name] for name in ("language", "start", "method") if name in row}
        return _shown(own, own.rows(table, **where, split=split, subset=subset, metric="wer"))

    return find


def _shown(own: Own, rows: Cell) -> Counterpart:
    if rows.empty or rows["value"].isna().all():
        return Counterpart("", f"another encoder, language or amount of speech is run at scale {own.frame.scale}")
    return Counterpart(f"{rows['value'].mean():.1f}", about(rows.iloc[0], "value", own.frame.scale))


RESULTS = results_of(
    "asr-adapters",
    tables=_TABLES,
    figures=_FIGURES,
    ours={"table2": of_table2, "table4": _of_split("table4"), "table5": _of_split("table5")},
    claims=CLAIMS,
    twins=TWINS,
    neighbours=NEIGHBOURS,
    unjudged={"nano": "a few updates test the workflow, not the claim"},
)
