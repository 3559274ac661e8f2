"""What L3Prune declares about its results: factors, metrics, tables, figures, claims, printed tables."""

from reprlab.papers.overparameterized_encoders import tables
from reprlab.papers.overparameterized_encoders.claims import CLAIMS
from reprlab.results.comparison import Printed
from reprlab.results.figures import Axis, Curves
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric
from reprlab.results.tables import Listing, Pivot

# The two depths that the untrained losses choose; with and without training.
CHOSEN = ("small", "large")
PARTS = ("trained", "none")
TRIPLES = "triples"
COSTS = {
    "layers": Metric(about="layers that are kept", unit="count"),
    "of_layers": Metric(about="layers of the whole model", unit="count"),
    "parameters": Metric(about="parameters that are kept, without output layer and adapters", unit="count"),
    "of_parameters": Metric(about="the same of the whole model", unit="count"),
    "trained": Metric(about="trained numbers", unit="count"),
    "seconds": Metric(about="seconds of all updates", unit="seconds"),
    "peak_memory": Metric(about="peak memory of the training in bytes, of the process or the GPU", unit="number"),
}
FACTORS = {
    "model": Factor(about="decoder"),
    "depth": Factor(about="pNN: NN percent of the layers dropped; one: one is left; small, large: L3Prune's"),
    "training": Factor(about="whether the encoder is trained", values=PARTS),
    "part": Factor(about="where a value comes from", values=("layers", "training", "cost", "scores")),
    "dataset": Factor(about="task of the evaluation; triples: held-out triples"),
    "category": Factor(about="category of MTEB", identifies=False),
    "layers": Factor(about="layers of the encoder that is scored", kind="whole", identifies=False),
    "layer": Factor(about="layer whose loss it is, counted from 1", kind="whole"),
    "batch": Factor(about="batch of the sample", kind="whole"),
    "step": Factor(about="update of the training", kind="whole"),
    "seed": Factor(about="seed of the training", kind="whole"),
}
_SCORES = ("ndcg_at_10", "map", "v_measure", "average_precision", "accuracy", "spearman")
METRICS = {
    "loss": Metric(about="contrastive loss of a batch, or mean of the last updates", unit="nats"),
    "contrastive_loss": Metric(about="contrastive loss of held-out triples", unit="nats"),
    "ndcg_at_10": Metric(about="nDCG at 10", unit="percent"),
    "map": Metric(about="mean average precision", unit="percent"),
    "v_measure": Metric(about="V-measure of the clusters", unit="percent"),
    "average_precision": Metric(about="average precision of pairs by their cosine", unit="percent"),
    "accuracy": Metric(about="accuracy of a logistic regression on a few examples", unit="percent"),
    "spearman": Metric(about="rank correlation of cosine and likeness", unit="percent"),
    **COSTS,
}
_TRAINED = {"part": ("cost", "scores", "training")}
TABLES = [
    Table("table1", "Every depth: layers, parameters, mean score and loss (Table 1).", tables.variants, _TRAINED),
    Table("table2", "Minutes of training (Table 2).", tables.times, {"part": ("cost", "training")}),
    Table("mteb15", "The tasks of the evaluation (Table 3).", tables.tasks, {"part": "scores"}),
    Table(
        "scores",
        "Score of each task, with and without training; random vectors and the commonest label are the baselines.",
        Pivot("model depth training", "dataset", "scale layers steps tokens", "low high learned data", over="seed"),
        {"part": "scores", "metric": _SCORES},
    ),
    Table(
        "baselines",
        "Each score beside the baseline that is hardest to beat, and its margin over it and over no training.",
        Listing(
            "model depth dataset metric seed value low high baseline baseline_value margin margin_untrained learned "
            "n steps data scale"
        ),
        {"part": "scores", "training": "trained", "metric": _SCORES},
    ),
    Table("depth_cost", "Parameters, seconds and peak memory by depth.", tables.cost, {"part": ("cost", "training")}),
    Table("fig1_layer_loss", "Untrained loss by layer (Figure 1).", tables.layer_losses, {"part": "layers"}),
    Table(
        "fig3_train_loss",
        "Training loss by update (Figure 3).",
        Listing("model depth seed step loss=value tokens data scale"),
        {"part": "training"},
    ),
    Table("fig4_final_loss", "Loss after training by parameters (Figure 4).", tables.variants, _TRAINED),
    Table("fig5_score_vs_params", "Mean score by parameters (Figure 5).", tables.variants, _TRAINED),
    Table("fig6_time", "Minutes of training by parameters (Figure 6).", tables.times, {"part": ("cost", "training")}),
]
_PARAMETERS = Axis("params_exact", "Parameters")
FIGURES = [
    Figure("fig1_layer_loss", "Untrained loss by layer (Figure 1).", "fig1_layer_loss", tables.draw_layer_losses),
    Figure(
        "fig3_train_loss",
        "Training loss by update (Figure 3).",
        "fig3_train_loss",
        Curves(Axis("step", "Update"), [Axis("loss", "Loss (nats)")], line="depth", panel="model"),
    ),
    Figure(
        "fig4_final_loss",
        "Loss of held-out triples after training, by parameters (Figure 4).",
        "fig4_final_loss",
        Curves(
            _PARAMETERS, [Axis("loss", "Loss (nats)"), Axis("loss_untrained", "Without training")], "scale", "model"
        ),
    ),
    Figure(
        "fig5_score_vs_params",
        "Mean score by parameters (Figure 5).",
        "fig5_score_vs_params",
        Curves(_PARAMETERS, [Axis("score", "Mean score")], line="scale", panel="model"),
    ),
    Figure(
        "fig6_time",
        "Minutes of training by parameters (Figure 6).",
        "fig6_time",
        Curves(_PARAMETERS, [Axis("minutes", "Minutes")], line="scale", panel="model"),
    ),
]
PRINTED = {
    "table1": Printed(("model", "variant"), ("layers", "params", "pct", "score", "delta"), tables.first_table),
    "table2": Printed(("model",), CHOSEN, tables.second_table),
}
LABELS = {
    "llama_3_8b": "LLaMA-3-8B", "mistral_7b": "Mistral-7B", "qwen2_7b": "Qwen2-7B", "phi3_4b": "Phi3-4B",
}  # fmt: skip
RESULTS = PaperResults(
    factors=FACTORS,
    metrics=METRICS,
    tables=TABLES,
    claims=CLAIMS,
    figures=FIGURES,
    printed=PRINTED,
    unjudged={"nano": "a few updates on a few triples test the workflow, not the claim"},
    labels=LABELS,
)
