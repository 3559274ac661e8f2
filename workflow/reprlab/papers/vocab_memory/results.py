"""Results of vocab-memory, declared: factors, metrics, tables, figures, claims, printed values."""

from reprlab.papers.vocab_memory import measures
from reprlab.papers.vocab_memory.claims import CLAIMS, TWINS
from reprlab.papers.vocab_memory.comparison import OURS
from reprlab.papers.vocab_memory.figures import draw_trend
from reprlab.papers.vocab_memory.neighbours import NEIGHBOURS
from reprlab.results.figures import Axis, Bars
from reprlab.results.words import results_of

_SAVED = {"embedding": "embedding", "total": "model"}
_TABLES = {
    "table1_unseen_tokens": measures.unseen_table,
    "table2_reduction": measures.reduction_table(_SAVED, mean=True),
    "table3_deberta_sizes": measures.reduction_table({"millions": "millions"}, mean=True),
    "table4_xnli": measures.reduction_table(_SAVED, mean=False),
    "table5_models": measures.sizes_table("vocabulary"),
    "table6_deberta": measures.sizes_table("layers", "heads", "width"),
    "table9_runtime": measures.runtime_table,
    "table10_glue": measures.glue_table,
    "fig2_vocab_trend": measures.trend_table,
}
_PEAKS = [Axis("peak_whole_mb", "whole matrix"), Axis("peak_mb", "PEMA")]
_MEMORY = Bars("task", _PEAKS, "peak memory (MB)", panel="model")
RESULTS = results_of(
    "vocab-memory",
    tables={name: (build, {"table": name}) for name, build in _TABLES.items()},
    figures={
        "fig2_vocab_trend": ("fig2_vocab_trend", draw_trend, "1"),
        "fig_memory": ("table9_runtime", _MEMORY, "12"),
    },
    ours=OURS,
    claims=CLAIMS,
    twins=TWINS,
    neighbours=NEIGHBOURS,
)
