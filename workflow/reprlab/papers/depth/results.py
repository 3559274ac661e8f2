"""What stands in `results/depth`: factors, metrics, tables, figures, claims and printed values."""

from typing import Any

from reprlab.papers.depth.claims import CLAIMS
from reprlab.papers.depth.comparison import PRINTED
from reprlab.papers.depth.figures_benchmarks import draw_benchmark
from reprlab.papers.depth.figures_losses import draw_decomposition, draw_losses, draw_packing, draw_variants
from reprlab.papers.depth.measures import (
    SUMS,
    benchmark_table,
    loss_table,
    means_table,
    packing_table,
    scale_table,
)
from reprlab.papers.depth.names import BENCHMARKS
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric

SIDE_EXPERIMENTS = ("packing_lr", "sentence_weight", "padding_in_loss", "int8_bug")
FACTORS = {
    "experiment": Factor(
        about="benchmark, main runs or side experiment", values=(*BENCHMARKS, "main", *SIDE_EXPERIMENTS)
    ),
    "part": Factor(
        about="finetuning: scores; training: the training curve; validation: sums of one batch",
        values=("finetuning", "training", "validation"),
    ),
    "variant": Factor(about="what a side experiment varies; empty: a main run"),
    "init": Factor(about="fs: from scratch, cpt: continued, public: released weights, baseline: no training"),
    "model": Factor(about="t5, depth, t5-base, or the name of a baseline"),
    "step": Factor(about="optimizer steps of pre-training", kind="whole"),
    "seed": Factor(about="seed of pre-training", kind="whole"),
    "tuning_seed": Factor(about="seed of fine-tuning", kind="whole"),
    "column": Factor(about="column of the benchmark"),
    "shuffled": Factor(about="whether the sentences of a validation batch are shuffled", values=("true", "false")),
    "batch": Factor(about="validation batch", kind="whole"),
    "packing": Factor(
        about="whether passages were joined up to the full length", values=("yes", "no"), identifies=False
    ),
    "lr": Factor(about="peak learning rate; of fine-tuning the chosen one", kind="number", identifies=False),
    "batch_size": Factor(about="passages of one update", kind="whole", identifies=False),
    "params": Factor(about="parameters", kind="whole", identifies=False),
    "outside_labels": Factor(
        about="share of the predictions that are no label, 0 to 1", kind="number", identifies=False
    ),
}
METRICS = {
    "accuracy": Metric(about="right answers", unit="percent"),
    "matthews": Metric(about="Matthews correlation times 100", unit="percent"),
    "rouge_l": Metric(about="ROUGE-L, F-measure", unit="percent"),
    "loss": Metric(about="training loss, mean since the last row", unit="nats"),
    "diverged": Metric(about="1 where loss or gradient of training was no longer finite", unit="count"),
    **{
        name: Metric(
            about=f"{name.replace('_', ' ')} of a validation batch", unit="nats" if "loss" in name else "count"
        )
        for name in SUMS
    },
}
_LOSSES = loss_table("step", "model", "init")
_VARIANTS = loss_table("variant", "step", "model", "init")
_TITLES = {
    "glue": ("GLUE", "Tables 5 and 6", "Figure 4"),
    "discoeval": ("DiscoEval", "Tables 7 and 8", "Figure 5"),
    "ni": ("Natural Instructions, ROUGE-L,", "Tables 9 and 10", "Figure 6"),
}
# Scores of fine-tuning, and the curves of the main runs for the tokens that a checkpoint had seen.
_SCORES = {"part": ("finetuning", "training")}
_MADE: dict[str, tuple[Any, Any]] = {
    "table1": (means_table, {"experiment": ("discoeval", "main"), **_SCORES}),
    "table2_scale": (scale_table, {"experiment": "main", "part": "training"}),
    **{name: (benchmark_table, {"experiment": (name, "main"), **_SCORES}) for name in _TITLES},
    "loss_fs": (_LOSSES, {"experiment": "main", "init": "fs"}),
    "loss_cpt": (_LOSSES, {"experiment": "main", "init": "cpt"}),
    "loss_decomposition": (_LOSSES, {"experiment": "main", "model": "depth"}),
    "packing_lr": (packing_table, {"experiment": "packing_lr", "part": "training"}),
    **{name: (_VARIANTS, {"experiment": name}) for name in SIDE_EXPERIMENTS[1:]},
}
_CAPTIONS = {
    "table1": "Mean of the SP tasks and of the DC tasks at the last checkpoint (Table 1).",
    "table2_scale": "Scale of pre-training (Table 2).",
    **{name: f"{title} by checkpoint ({tables})." for name, (title, tables, _) in _TITLES.items()},
    "loss_fs": "Validation losses from scratch (Figure 2).",
    "loss_cpt": "Validation losses in continued pre-training (Figure 3).",
    "loss_decomposition": "DEPTH's loss in its parts, shuffled and in order (Figures 8 and 9).",
    "packing_lr": "T5's training loss with and without packing, by learning rate (Figure 7).",
    "sentence_weight": "Weight of the sentence loss (Figure 10).",
    "padding_in_loss": "Ablation of a defect of the released code: padding counted in the DEPTH loss.",
    "int8_bug": "Ablation of a defect of the released code: T5 inputs scrambled beyond 127 tokens.",
}
TABLES = tuple(Table(name, _CAPTIONS[name], build, where) for name, (build, where) in _MADE.items())
_TOTALS = {"loss": "total loss (nats)", "reconstruction_loss": "reconstruction loss (nats)"}
_WEIGHTED = {"sent_accuracy_shuffled": "SENT accuracy, shuffled (%)", "sentence_loss": "sentence loss (nats)"}
FIGURES = (
    *(
        Figure(f"fig_{name}", f"{title} by pre-training step ({figure}).", name, draw_benchmark(name))
        for name, (title, _, figure) in _TITLES.items()
    ),
    Figure("loss_fs", "Validation loss from scratch (Figure 2).", "loss_fs", draw_losses),
    Figure("loss_cpt", "Validation loss in continued pre-training (Figure 3).", "loss_cpt", draw_losses),
    Figure(
        "loss_decomposition",
        "DEPTH's loss in its two parts, shuffled and in order, and what chance order gives (Figures 8 and 9).",
        "loss_decomposition",
        draw_decomposition,
    ),
    Figure(
        "packing_lr",
        "T5's training loss with and without packing, by learning rate (Figure 7).",
        "packing_lr",
        draw_packing,
    ),
    Figure(
        "sentence_weight",
        "Weight of the sentence loss (Figure 10).",
        "sentence_weight",
        draw_variants({**_WEIGHTED, **dict(reversed(_TOTALS.items()))}),
    ),
    Figure("padding_in_loss", "Padding counted in the DEPTH loss, and not.", "padding_in_loss", draw_variants(_TOTALS)),
    Figure("int8_bug", "T5 with its inputs scrambled beyond 127 tokens, and not.", "int8_bug", draw_variants(_TOTALS)),
)
RESULTS = PaperResults(
    factors=FACTORS,
    metrics=METRICS,
    tables=TABLES,
    figures=FIGURES,
    claims=CLAIMS,
    printed=PRINTED,
    labels={"fs": "from scratch", "cpt": "continued", "t5": "T5"},
)
