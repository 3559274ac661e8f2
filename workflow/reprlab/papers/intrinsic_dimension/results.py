"""Results of intrinsic dimension, declared: factors, metrics, tables, figures, claims, printed values."""

from __future__ import annotations

from typing import Any

from reprlab.geometry.curves import NORMS
from reprlab.papers.intrinsic_dimension.claims import CLAIMS, TWINS
from reprlab.papers.intrinsic_dimension.figures import draw_heatmap, draw_scatter
from reprlab.papers.intrinsic_dimension.measures import (
    ALL,
    TWO_NN,
    accuracy_table,
    auc_table,
    dynamics_table,
    heatmap_table,
    precision_table,
    scatter_table,
    seeds_table,
)
from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Match, Own
from reprlab.results.figures import Axis, Boxes, Curves
from reprlab.results.frame import Option
from reprlab.results.table_forms import Listing
from reprlab.results.words import printed_of, results_of

# What the tables call fine-tuning on all training examples (the paper: "Finetune 1K").
FINETUNED = "sft_1k"
CONDITIONS = printed_of("intrinsic-dimension").tables["accuracy"].values
_CURVES: dict[str, Any] = {"metric": "id", "subset": ALL}
_MOVING = ("comparison", "sft_dynamics", "icl_dynamics", "drawn", "drawn_unique")
_ACCURATE: dict[str, Any] = {"experiment": "comparison", "metric": "accuracy"}
_CELL = "experiment model dataset condition k step split dtype"
_CELLS = Listing(
    f"{_CELL} accuracy=value low high baseline baseline_value margin above_trivial n tokens data scale seed"
)
_LAYERS = Listing(f"{_CELL} layer estimator id=value spread n_used=n n_zero data scale seed")
_TABLES: dict[str, tuple[Any, Any]] = {
    "accuracy": (accuracy_table, _ACCURATE),
    "accuracy_cells": (_CELLS, _ACCURATE),
    "id_layers": (_LAYERS, {**_CURVES, "experiment": _MOVING}),
    "auc": (auc_table, {"metric": tuple(f"auc_{norm}" for norm in NORMS), "experiment": _MOVING}),
    "auc_heatmap": (heatmap_table, {"metric": Option("auc"), "experiment": "comparison"}),
    **{name: (dynamics_table, {"experiment": name}) for name in ("sft_dynamics", "icl_dynamics")},
    "icl_unique": (dynamics_table, {"experiment": ("icl_unique", "drawn_unique")}),
    "twonn_vs_mle": (scatter_table, {**_CURVES, "experiment": "comparison"}),
    "precision": (precision_table, {**_CURVES, "experiment": "precision"}),
    "token_geometry": (
        Listing("experiment model dataset condition tokens_are layer metric value low high n dtype data scale"),
        {"experiment": ("tokens", "drawn_tokens")},
    ),
    "seeds": (seeds_table, {"experiment": "replication", "metric": ("accuracy", Option("auc"))}),
}
_ACCURACY = Axis("accuracy", "accuracy (%)", "low", "high", "trivial", "hardest without a model")
_AREA = Axis("auc", "normalised AUC", "auc_low", "auc_high")
_SHOTS = Axis("k", "demonstrations")
_COMPARED = {"estimator": "two_nn", "experiment": "comparison"}
_SETTING = "model dataset"
_IDS = [Axis("id", "intrinsic dimension (TwoNN)")]
_TITLES = {"sft_dynamics": "I1", "icl_unique": "I5"}
_ALONG = {"sft_dynamics": Axis("step", "step"), "icl_dynamics": _SHOTS, "icl_unique": _SHOTS}
_FIGURES: dict[str, tuple[Any, ...]] = {
    "id_layers": ("id_layers", Curves(Axis("layer", "layer"), _IDS, "condition", _SETTING, _COMPARED)),
    "auc_heatmap": ("auc_heatmap", draw_heatmap),
    "auc_by_condition": ("auc", Boxes("condition", _AREA, where=_COMPARED), "I8"),
    **{
        f"auc_by_model_{name}": (
            "auc",
            Boxes("model", _AREA, panel="condition", where={**_COMPARED, "condition": name}),
            "I11" if name == "icl_5" else "",
        )
        for name in CONDITIONS
    },
    **{
        name: (name, Curves(axis, [_ACCURACY, _AREA], "split", _SETTING), _TITLES.get(name, ""))
        for name, axis in _ALONG.items()
    },
    "twonn_vs_mle": ("twonn_vs_mle", draw_scatter),
}
_IN_THE_AUDIT = "a setting or a count: see the audit"


def _statement(own: Own, row: Cell, column: str) -> Counterpart:
    """Statements of the text on the figures."""
    frame, about = own.frame, f"scale {own.frame.scale}"
    areas = frame.narrowed(TWO_NN).select(experiment="comparison", subset=ALL)
    quantity = row["quantity"]
    if quantity == "twonn_mle_pearson":
        table = own.table("twonn_vs_mle")
        return Counterpart(f"{table['pearson'].iloc[0]:.2f}", f"{about}; {len(table)} points; 6528 in the paper")
    if quantity == "auc_peak_k":
        where = {"experiment": "icl_dynamics", "model": row["model"], "dataset": row["dataset"]}
        found = frame.narrowed(TWO_NN).select(**where, subset=ALL)
        if found.empty:
            return own.missing(f"{row['model']} on {row['dataset']} is not run at {about}")
        return Counterpart(str(found.loc[found["value"].idxmax(), "k"]), about)
    if quantity == "icl_5_auc_range":
        values = areas.loc[areas["condition"] == "icl_5", "value"]
        if len(values) < 2:
            return own.missing(f"icl_5 has fewer than two AUCs at {about}")
        return Counterpart(f"{values.max() - values.min():.2f}", f"{about}; {len(values)} models and data sets")
    if quantity == "median_auc_peak":
        medians = areas.groupby("condition")["value"].median()
        return Counterpart(str(medians.idxmax()), f"{about}; median {medians.max():.2f}")
    if quantity == "peaks_that_align":
        return own.missing("'near-peak' is not defined in the paper; claims.tsv has the distance in k")
    return own.missing(_IN_THE_AUDIT)


_MATCHED = Match("accuracy", {"dataset": "dataset"}, places=3, across="condition", share=True)
RESULTS = results_of(
    "intrinsic-dimension",
    tables=_TABLES,
    figures=_FIGURES,
    ours={"accuracy": _MATCHED, "statements": _statement},
    claims=CLAIMS,
    twins=TWINS,
    unjudged={"nano": "a random model, for tests"},
)
