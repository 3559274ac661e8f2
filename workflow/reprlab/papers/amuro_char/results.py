"""Results of amuro-char, declared: factors, metrics, tables, figures, claims, printed values."""

from __future__ import annotations

from functools import partial
from typing import Any

from reprlab.papers.amuro_char import tables_changes
from reprlab.papers.amuro_char import tables_scores as tables
from reprlab.papers.amuro_char.claims import CLAIMS, TWINS
from reprlab.papers.amuro_char.figures import draw_final_formats, draw_final_ood, draw_gains, draw_ood, of_model
from reprlab.papers.amuro_char.names import BASE, CLASS_TO_GEN, GEN_TO_CLASS, MAIN_METHODS, PREDICTION_METHODS, WAYS
from reprlab.papers.amuro_char.neighbours import NEIGHBOURS
from reprlab.papers.amuro_char.tables_scores import HEADLINE, SCORES
from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about
from reprlab.results.figures import Axis, Curves
from reprlab.results.frame import Rows
from reprlab.results.words import results_of

_METHODS: dict[str, Any] = {**HEADLINE, "method": PREDICTION_METHODS}
_FORMATS: dict[str, Any] = {name: wanted for name, wanted in HEADLINE.items() if name != "fmt"}
_WAYS: dict[str, Any] = {**HEADLINE, "way": ("", *WAYS)}
_SHOTS: dict[str, Any] = {"metric": SCORES, "fmt": "default", "method": MAIN_METHODS, "train": BASE, "way": ""}
_TABLES: dict[str, tuple[Any, Any]] = {
    "perf": (tables.perf_table, {"metric": SCORES, "way": ""}),
    "table3_prediction_method": (tables.prediction_table, _METHODS),
    "table6_perf_diff": (tables_changes.perf_diff_table, HEADLINE),
    "mrc": (tables_changes.mrc_table, HEADLINE),
    "ood_change": (tables_changes.ood_table, HEADLINE),
    "unlabelled_gold": (tables_changes.unlabelled_table, HEADLINE),
    "format": (tables.format_table, _FORMATS),
    "fig6_fewshot_base": (tables.fewshot_table, _SHOTS),
    "curves": (tables.curves_table, HEADLINE),
    "re_adapt": (tables_changes.readapted_table, _WAYS),
}
_LADDER = Axis("place", "checkpoint", ticks="ckpt")
_PERFORMANCE = Axis("performance", "score (%)", "low", "high", "majority", "most frequent class")
# Tables 3 and 6 and the text of section 4.3 speak of it.
_FAMILY = "olmo1b"
# Figures of curves, and the claims whose verdict is the title.
_CURVES = {"fig7": "", "fig9": "", "fig10": "A1", "fig11": "A8", "fig12": "A3", "fig13": "A4"}
_DIRECTIONS = {"mrc_class_to_gen": CLASS_TO_GEN, "mrc_gen_to_class": GEN_TO_CLASS}


def _ours(own: Own, table: str, family: str, **where: str) -> Rows:
    """Rows of our table; below paper scale, where one small model stands for OLMo, those of the first model."""
    if own.frame.scale != "paper" and family == _FAMILY:
        family = next(iter(own.table(table).get("family", ())), "")
    return own.rows(table, family=family, **where)


def _beside(one: Cell, scale: str, *more: str) -> str:
    return "; ".join([about(one, "", scale), one["family"], *(part for part in more if part)])


def _cell(table: str, keys: tuple[str, ...], own: Own, row: Cell, column: str) -> Counterpart:
    """A share of Table 3 or a difference of Table 6, printed in 0 to 1."""
    rows = _ours(own, table, _FAMILY, **{key: row[key] for key in keys})
    if rows.empty:
        where = f": the ladder has no checkpoint {row['ckpt']}" if "ckpt" in keys else ""
        return own.missing(f"not run at scale {own.frame.scale}{where}")
    one = rows.iloc[0]
    if one[column] != one[column]:
        return own.missing(f"not all of its scores were run at scale {own.frame.scale}")
    majority = f"most frequent class {one['majority'] / 100:.3f}" if "majority" in one else one["note"]
    return Counterpart(f"{one[column] / 100:.3f}", _beside(one, own.frame.scale, majority))


def _statement(own: Own, row: Cell, column: str) -> Counterpart:
    """Statements of the text: mean ratios of change in percent."""
    direction = _DIRECTIONS.get(row["quantity"])
    if direction is None:
        return own.missing("a count, a sum or a reading of a figure: see the audit and the claims")
    rows = _ours(own, "mrc", row["family"], row="summary", direction=direction, ckpt="all")
    if rows.empty or rows["ratio"].isna().all():
        return own.missing(f"{row['family']} is not run at scale {own.frame.scale}")
    one = rows.iloc[0]
    counts = f"mean of {one['ratios']} ratios, median {100 * one['median']:.1f}; {one['skipped']} zero bases skipped"
    return Counterpart(f"{100 * one['ratio']:.1f}", _beside(one, own.frame.scale, counts))


RESULTS = results_of(
    "amuro-char",
    tables=_TABLES,
    figures={
        "fig2_fig14_format": ("format", of_model(Curves(_LADDER, [_PERFORMANCE], "series", "eval")), "A5"),
        "fig3": ("format", of_model(draw_final_formats, -1), "A5"),
        "fig5": ("ood_change", of_model(draw_ood), "A8"),
        "fig15": ("ood_change", of_model(draw_final_ood, -1)),
        "fig6_fewshot_base": (
            "fig6_fewshot_base",
            of_model(Curves(_LADDER, [Axis("performance", "score (%)")], "eval", "panel")),
            "A15",
        ),
        "fig8": ("table6_perf_diff", of_model(draw_gains), "A14"),
        **{
            name: ("curves", Curves(_LADDER, [_PERFORMANCE], "series", "panel", {"figure": name}), claim)
            for name, claim in _CURVES.items()
        },
    },
    ours={
        "table3_prediction_method": partial(_cell, "table3_prediction_method", ("dataset", "model")),
        "table6_perf_diff": partial(_cell, "table6_perf_diff", ("ckpt",)),
        "statements": _statement,
    },
    claims=CLAIMS,
    twins=TWINS,
    neighbours=NEIGHBOURS,
    unjudged={"nano": "a few steps, for tests"},
)
