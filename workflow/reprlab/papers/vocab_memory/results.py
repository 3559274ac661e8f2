"""What stands in `results/vocab-memory`: factors, metrics, tables, figures, claims, printed values."""

from __future__ import annotations

from reprlab.papers.vocab_memory import measures
from reprlab.papers.vocab_memory.claims import CLAIMS
from reprlab.papers.vocab_memory.comparison import PRINTED
from reprlab.papers.vocab_memory.figures import draw_trend
from reprlab.results.figures import Axis, Bars
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric

_SAVED = {"embedding": "embedding", "total": "model"}
_BUILT = {
    "table1_unseen_tokens": ("Tokens of a vocabulary that do not occur in a corpus (Table 1).", measures.unseen_table),
    "table2_reduction": (
        "Reduction of embedding and model parameters by task (Table 2).",
        measures.reduction_table(_SAVED, mean=True),
    ),
    "table3_deberta_sizes": (
        "Parameters saved by sizes of one family, in millions (Table 3).",
        measures.reduction_table({"millions": "millions"}, mean=True),
    ),
    "table4_xnli": ("Reduction by sets of languages (Table 4).", measures.reduction_table(_SAVED, mean=False)),
    "table5_models": ("Vocabulary and parameters of each model (Table 5).", measures.sizes_table("vocabulary")),
    "table6_deberta": ("Sizes of one family (Table 6).", measures.sizes_table("layers", "heads", "width")),
    "table9_runtime": (
        "Seconds of PEMA and of fine-tuning, and peak memory with and without it (Table 9).",
        measures.runtime_table,
    ),
    "table10_glue": ("GLUE with and without PEMA (Table 10).", measures.glue_table),
    "fig2_vocab_trend": ("Unique tokens by tokens (Figure 2).", measures.trend_table),
}
FACTORS = {
    "table": Factor(about="table that the row belongs to", values=tuple(_BUILT)),
    "model": Factor(about="model, by its name in the paper"),
    "entry": Factor(about="the same by its name in models.yaml; empty for counts, which belong to a tokenizer"),
    "tokenizer": Factor(about="model whose tokenizer counts, by its name in models.yaml"),
    "column": Factor(about="task, further data set or set of languages"),
    "splits": Factor(about="splits whose tokens are put together"),
    "token": Factor(about="token that never occurs, in the vocabulary's own spelling and in quotes"),
    "pema": Factor(about="whether the matrix was partial while training", values=("no", "yes")),
    "seed": Factor(about="seed of head, dropout and order of the data", kind="whole"),
    "device": Factor(about="device of a timed run"),
}
_COUNTS = {
    "used": "different tokens that occur, padding among them; rows that were trained",
    "unique": "different tokens that occur, padding not among them",
    "unseen": "tokens that never occur, special ones left out",
    "id": "number of a token",
    "vocabulary": "tokens of the vocabulary, or rows of the matrix",
    "width": "columns of the matrix",
    "embedding": "parameters of the matrix",
    "total": "parameters of the model with a head for two labels",
    "layers": "hidden layers",
    "heads": "attention heads",
    "moments": "numbers in the optimizer's state",
    "examples": "training examples",
    "peak_bytes": "largest memory in bytes, less that before the model was loaded",
}
METRICS = {
    **{name: Metric(about=about, unit="count") for name, about in _COUNTS.items()},
    "pema_seconds": Metric(about="counting, renumbering, cutting out and writing back", unit="seconds"),
    "train_seconds": Metric(about="all optimizer steps", unit="seconds"),
    "accuracy": Metric(about="right answers", unit="percent"),
    "f1": Metric(about="F1 of the second label", unit="percent"),
    "matthews": Metric(about="Matthews correlation, times 100", unit="percent"),
    "spearman": Metric(about="Spearman correlation, times 100", unit="percent"),
}
_PEAKS = [Axis("peak_whole_mb", "whole matrix"), Axis("peak_mb", "PEMA")]
_MEMORY = Bars("task", _PEAKS, "peak memory (MB)", panel="model")
RESULTS = PaperResults(
    factors=FACTORS,
    metrics=METRICS,
    tables=[Table(name, caption, build, {"table": name}) for name, (caption, build) in _BUILT.items()],
    figures=[
        Figure(
            "fig2_vocab_trend",
            "Unique tokens by tokens of each data set (Figure 2).",
            "fig2_vocab_trend",
            draw_trend,
        ),
        Figure("fig_memory", "Peak memory of fine-tuning with and without PEMA.", "table9_runtime", _MEMORY),
    ],
    claims=CLAIMS,
    printed=PRINTED,
)
