"""Results of DEPTH, declared: factors, metrics, tables, figures, claims and printed values."""

from typing import Any

from reprlab.papers.depth.claims import CLAIMS, TWINS
from reprlab.papers.depth.comparison import OURS
from reprlab.papers.depth.figures_benchmarks import draw_benchmark
from reprlab.papers.depth.figures_losses import draw_decomposition, draw_losses, draw_packing, draw_variants
from reprlab.papers.depth.measures import benchmark_table, loss_table, means_table, packing_table, scale_table
from reprlab.papers.depth.names import BENCHMARKS, SIDE_EXPERIMENTS
from reprlab.results.words import results_of

_LOSSES = loss_table("step", "model", "init")
_VARIANTS = loss_table("variant", "step", "model", "init")
# Scores of fine-tuning, and the curves of the main runs for the tokens that a checkpoint had seen.
_SCORES = {"part": ("finetuning", "training")}
_TABLES: dict[str, tuple[Any, Any]] = {
    "table1": (means_table, {"experiment": ("discoeval", "main"), **_SCORES}),
    "table2_scale": (scale_table, {"experiment": "main", "part": "training"}),
    **{name: (benchmark_table, {"experiment": (name, "main"), **_SCORES}) for name in BENCHMARKS},
    "loss_fs": (_LOSSES, {"experiment": "main", "init": "fs"}),
    "loss_cpt": (_LOSSES, {"experiment": "main", "init": "cpt"}),
    "loss_decomposition": (_LOSSES, {"experiment": "main", "model": "depth"}),
    "packing_lr": (packing_table, {"experiment": "packing_lr", "part": "training"}),
    **{name: (_VARIANTS, {"experiment": name}) for name in SIDE_EXPERIMENTS[1:]},
}
_TOTALS = {"loss": "total loss (nats)", "reconstruction_loss": "reconstruction loss (nats)"}
_WEIGHTED = {"sent_accuracy_shuffled": "SENT accuracy, shuffled (%)", "sentence_loss": "sentence loss (nats)"}
# Claims whose verdict is the title.
_TITLES = {"glue": "D1", "discoeval": "D3", "ni": "D4"}
RESULTS = results_of(
    "depth",
    tables=_TABLES,
    figures={
        **{f"fig_{name}": (name, draw_benchmark(name), _TITLES[name]) for name in BENCHMARKS},
        "loss_fs": ("loss_fs", draw_losses, "L8a"),
        "loss_cpt": ("loss_cpt", draw_losses),
        "loss_decomposition": ("loss_decomposition", draw_decomposition, "L3"),
        "packing_lr": ("packing_lr", draw_packing, "L10"),
        "sentence_weight": ("sentence_weight", draw_variants({**_WEIGHTED, **dict(reversed(_TOTALS.items()))}), "L9c"),
        "padding_in_loss": ("padding_in_loss", draw_variants(_TOTALS)),
        "int8_bug": ("int8_bug", draw_variants(_TOTALS)),
    },
    ours=OURS,
    claims=CLAIMS,
    twins=TWINS,
)
