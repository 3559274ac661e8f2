"""Results of L3Prune, declared: factors, metrics, tables, figures, claims, printed tables."""

from typing import Any

from reprlab.papers.overparameterized_encoders import tables_pruning as tables
from reprlab.papers.overparameterized_encoders.claims import CLAIMS, SCORES, TWINS
from reprlab.papers.overparameterized_encoders.names import LABELS
from reprlab.papers.overparameterized_encoders.neighbours import NEIGHBOURS
from reprlab.results.comparison import Find
from reprlab.results.figures import Axis, Curves
from reprlab.results.table_forms import Listing, Pivot
from reprlab.results.words import results_of

# The two depths that the untrained losses choose; with and without training.
CHOSEN = ("small", "large")
PARTS = ("trained", "none")
TRIPLES = "triples"
COSTS = ("layers", "of_layers", "parameters", "of_parameters", "trained", "seconds", "peak_memory")
_TRAINED = {"part": ("cost", "scores", "training")}
_TABLES: dict[str, tuple[Any, Any]] = {
    "table1": (tables.variants, _TRAINED),
    "table2": (tables.times, {"part": ("cost", "training")}),
    "published": (tables.published, {"part": "published"}),
    "mteb15": (tables.tasks, {"part": "scores"}),
    "scores": (
        Pivot(
            "model depth training",
            "dataset",
            "scale layers steps tokens",
            "low high above_trivial above_untrained data",
            over="seed",
        ),
        {"part": "scores", "metric": SCORES},
    ),
    "neighbours": (
        Pivot(
            "model depth way training",
            "dataset",
            "scale layers steps tokens",
            "low high above_trivial above_untrained data",
            over="seed",
        ),
        {"part": "neighbours", "metric": SCORES},
    ),
    "baselines": (
        Listing(
            "model depth dataset metric seed value low high baseline baseline_value margin margin_untrained "
            "above_trivial above_untrained "
            "n steps data scale"
        ),
        {"part": "scores", "training": "trained", "metric": SCORES},
    ),
    "depth_cost": (tables.cost, {"part": ("cost", "training")}),
    "fig1_layer_loss": (tables.layer_losses, {"part": "layers"}),
    "fig3_train_loss": (Listing("model depth seed step loss=value rate tokens data scale"), {"part": "training"}),
    "fig4_final_loss": (tables.variants, _TRAINED),
    "fig5_score_vs_params": (tables.variants, _TRAINED),
    "fig6_time": (tables.times, {"part": ("cost", "training")}),
}
_PARAMETERS = Axis("params_exact", "Parameters")
_FIGURES: dict[str, tuple[Any, ...]] = {
    "fig1_layer_loss": ("fig1_layer_loss", tables.draw_layer_losses, "O6"),
    "fig3_train_loss": (
        "fig3_train_loss",
        Curves(Axis("step", "Update"), [Axis("loss", "Loss (nats)")], line="depth", panel="model"),
    ),
    "fig4_final_loss": (
        "fig4_final_loss",
        Curves(
            _PARAMETERS, [Axis("loss", "Loss (nats)"), Axis("loss_untrained", "Without training")], "model", "model"
        ),
        "O1",
    ),
    "fig5_score_vs_params": (
        "fig5_score_vs_params",
        Curves(_PARAMETERS, [Axis("score", "Mean score")], line="model", panel="model"),
        "O5",
    ),
    "fig6_time": (
        "fig6_time",
        Curves(_PARAMETERS, [Axis("minutes", "Minutes")], line="model", panel="model"),
        "O3",
    ),
}
_OURS: dict[str, Find] = {
    "table1": tables.first_table,
    "table2": tables.second_table,
    "statements": tables.in_the_text,
}
RESULTS = results_of(
    "overparameterized-encoders",
    tables=_TABLES,
    figures=_FIGURES,
    ours=_OURS,
    claims=CLAIMS,
    twins=TWINS,
    neighbours=NEIGHBOURS,
    unjudged={"nano": "a few updates on a few triples test the workflow, not the claim"},
    labels=LABELS,
)
