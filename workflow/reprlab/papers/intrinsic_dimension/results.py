"""What stands in `results/intrinsic-dimension`: factors, metrics, tables, figures, claims, printed values."""

from __future__ import annotations

from typing import Any

from reprlab.geometry.curves import NORMS
from reprlab.papers.intrinsic_dimension.claims import CLAIMS
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
from reprlab.results.comparison import Cell, Match, Own, Printed
from reprlab.results.figures import Axis, Boxes, Curves
from reprlab.results.frame import Option
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric
from reprlab.results.tables import Listing

EXPERIMENTS = ("comparison", "sft_dynamics", "icl_dynamics", "icl_unique", "precision", "replication")
# What the tables call fine-tuning on all training examples (the paper: "Finetune 1K").
FINETUNED = "sft_1k"
CONDITIONS = ("icl_0", "icl_1", "icl_2", "icl_5", "icl_10", FINETUNED)
FACTORS = {
    "experiment": Factor(about="experiment that reads the collection; one may serve several", values=EXPERIMENTS),
    "model": Factor(about="model, by its name in models.yaml"),
    "dataset": Factor(about="row of the data set"),
    "condition": Factor(about=f"icl_<k>: k demonstrations; {FINETUNED}: fine-tuned"),
    "k": Factor(about="demonstrations in the prompt", kind="whole"),
    "step": Factor(about="optimizer steps of the adapter", kind="whole"),
    "dtype": Factor(about="arithmetic of the forward pass", values=("float32", "bfloat16")),
    "seed": Factor(about="seed of the demonstrations or of the adapter", kind="whole"),
    "estimator": Factor(about="estimator, by its name in papers.intrinsic-dimension.estimation.estimators"),
    "layer": Factor(about="layer, from 1 on", kind="whole"),
    "spread": Factor(about="standard deviation of the estimate over points", kind="number"),
    "n_zero": Factor(about="points that have an equal one", kind="whole"),
}
_DIVISORS = {"paper": "divided by L", "upstream": "divided by L - 1", "upstream_heatmap": "without the first layer"}
METRICS = {
    "accuracy": Metric(about="share of right answers by the logits of the labels", unit="percent"),
    "id": Metric(about="intrinsic dimension of the states of a layer", unit="number"),
    **{f"auc_{norm}": Metric(about=f"area under `id` over layers, {_DIVISORS[norm]}", unit="number") for norm in NORMS},
}
_CURVES: dict[str, Any] = {"metric": "id", "subset": ALL}
_MOVING = ("comparison", "sft_dynamics", "icl_dynamics")
_ACCURATE: dict[str, Any] = {"experiment": "comparison", "metric": "accuracy"}
_CELL = "experiment model dataset condition k step split dtype"
_CELLS = Listing(f"{_CELL} accuracy=value low high majority=baseline_value margin learned n tokens data scale seed")
_LAYERS = Listing(f"{_CELL} layer estimator id=value spread n_used=n n_zero data scale seed")
_MADE: dict[str, tuple[Any, Any]] = {
    "accuracy": (accuracy_table, _ACCURATE),
    "accuracy_cells": (_CELLS, _ACCURATE),
    "id_layers": (_LAYERS, {**_CURVES, "experiment": _MOVING}),
    "auc": (auc_table, {"metric": tuple(f"auc_{norm}" for norm in NORMS), "experiment": _MOVING}),
    "auc_heatmap": (heatmap_table, {"metric": Option("auc"), "experiment": "comparison"}),
    **{name: (dynamics_table, {"experiment": name}) for name in ("sft_dynamics", "icl_dynamics", "icl_unique")},
    "twonn_vs_mle": (scatter_table, {**_CURVES, "experiment": "comparison"}),
    "precision": (precision_table, {**_CURVES, "experiment": "precision"}),
    "seeds": (seeds_table, {"experiment": "replication", "metric": ("accuracy", Option("auc"))}),
}
_CAPTIONS = {
    "accuracy": "Accuracy by data set and paradigm, mean over models (Table 1).",
    "accuracy_cells": "The same by model.",
    "id_layers": "Intrinsic dimension of every layer (Figures 1b, 2a, 3b, 29 to 36).",
    "auc": "Normalised area under these curves, by its three definitions (Figures 1c, 2c, 3c).",
    "auc_heatmap": "Mean difference in AUC between paradigms (Figure 4).",
    "sft_dynamics": "Accuracy and AUC by step of fine-tuning (Figures 2, 13 to 28).",
    "icl_dynamics": "Accuracy and AUC by number of demonstrations (Figures 3, 7 to 12).",
    "icl_unique": "The same with demonstrations that stand in one prompt only (Figures 37 to 39).",
    "twonn_vs_mle": "Two estimators on every layer of every condition (Figure 46).",
    "precision": "What bfloat16 does to the estimates.",
    "seeds": "Spread over seeds of demonstrations and adapters.",
}
TABLES = tuple(Table(name, _CAPTIONS[name], build, where) for name, (build, where) in _MADE.items())
_ACCURACY = Axis("accuracy", "accuracy (%)", "low", "high", "majority", "most frequent class")
_AREA = Axis("auc", "normalised AUC", "auc_low", "auc_high")
_SHOTS = Axis("k", "demonstrations")
_COMPARED = {"estimator": "two_nn", "experiment": "comparison"}
_SETTING = "model dataset"
# People's words.
_PARADIGMS = {"icl_0": "no demonstrations", "icl_1": "1 demonstration", FINETUNED: "fine-tuned"}
_PARADIGMS |= {f"icl_{k}": f"{k} demonstrations" for k in (2, 3, 5, 10, 12, 14, 16, 18, 20)}
FIGURES = (
    Figure(
        "id_layers",
        "Intrinsic dimension by layer and paradigm (Figures 1b, 29 to 36).",
        "id_layers",
        Curves(Axis("layer", "layer"), [Axis("id", "intrinsic dimension (TwoNN)")], "condition", _SETTING, _COMPARED),
    ),
    Figure("auc_heatmap", "Mean difference in AUC between paradigms (Figure 4).", "auc_heatmap", draw_heatmap),
    Figure("auc_by_condition", "AUC by paradigm (Figure 5).", "auc", Boxes("condition", _AREA, where=_COMPARED)),
    *(
        Figure(
            f"auc_by_model_{name}",
            f"AUC by model, {_PARADIGMS[name]} (Figures 6, 40 to 45).",
            "auc",
            Boxes("model", _AREA, panel="condition", where={**_COMPARED, "condition": name}),
        )
        for name in CONDITIONS
    ),
    *(
        Figure(name, caption, name, Curves(axis, [_ACCURACY, _AREA], "split", _SETTING))
        for name, axis, caption in (
            ("sft_dynamics", Axis("step", "step"), "Fine-tuning step by step (Figures 2, 13 to 28)."),
            ("icl_dynamics", _SHOTS, "In-context learning by number of demonstrations (Figures 3, 7 to 12)."),
            ("icl_unique", _SHOTS, "Demonstrations never shared (Figures 37 to 39)."),
        )
    ),
    Figure("twonn_vs_mle", "TwoNN against Levina-Bickel (Figure 46).", "twonn_vs_mle", draw_scatter),
)
_IN_THE_AUDIT = "a setting or a count: see the audit"


def _statement(own: Own, row: Cell, column: str) -> Counterpart:
    """What the text states in words of the figures."""
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


PRINTED = {
    "accuracy": Printed(
        ("dataset",),
        CONDITIONS,
        Match("accuracy", {"dataset": "dataset"}, places=3, across="condition", share=True),
    ),
    "statements": Printed(("quantity", "model", "dataset"), ("value",), _statement),
}
RESULTS = PaperResults(
    factors=FACTORS,
    metrics=METRICS,
    tables=TABLES,
    figures=FIGURES,
    claims=CLAIMS,
    printed=PRINTED,
    unjudged={"nano": "a random model, for tests"},
    labels=_PARADIGMS,
)
