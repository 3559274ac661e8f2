"""What reverse probing declares about its results: tables, figures, claims and printed tables."""

from typing import Any

from reprlab.papers.reverse_probing.claims import CLAIMS, TWINS
from reprlab.papers.reverse_probing.tables_probes import (
    NAMES,
    by_layer,
    cells,
    drawn_bars,
    drawn_weights,
    in_cells,
    long_cells,
    of_figure2,
    of_layers,
    of_sum,
    similarity,
    sources,
    weights,
)
from reprlab.results.figures import Axis, Bars, Curves
from reprlab.results.table_forms import Listing
from reprlab.results.words import results_of

_F1 = {"metric": "conll_f1"}
_MAIN = {**_F1, "part": "main"}
# Single sources by their mean, and what has no cell.
_WHOLE = {"sources": 1, "cell": ("mean_full", "")}
METRICS = (
    "muc_precision", "muc_recall", "muc_f1", "b_cubed_precision", "b_cubed_recall", "b_cubed_f1",
    "ceaf_phi4_precision", "ceaf_phi4_recall", "ceaf_phi4_f1",
)  # fmt: skip
_TASKS = (
    "combo metric value low high n seen steps tokens baseline baseline_value above_trivial above_untrained data scale"
)
_EVERY = (
    "part combo cell read seed metric value low high n steps tokens baseline margin above_trivial above_untrained "
    "data scale"
)
_TABLES: dict[str, tuple[Any, Any]] = {
    "table1": (cells, {**_MAIN, "sources": 1}),
    "table2": (cells, {**_MAIN, "sources": 2}),
    "table3": (cells, {**_MAIN, "sources": (3, 4)}),
    "layers": (by_layer, {**_F1, "part": "layers"}),
    "sources": (sources, {**_F1, **_WHOLE, "part": ("main", "scratch", "rules")}),
    "similarity": (similarity, {**_WHOLE, "part": ("similarity", "main"), "metric": ("cosine", "logme", "conll_f1")}),
    "weights": (weights, {"part": "weights"}),
    "scores": (long_cells, _MAIN),
    "metrics": (Listing(_EVERY), {"part": ("main", "layers", "scratch", "rules"), "metric": (*_F1.values(), *METRICS)}),
    "tasks": (
        Listing(_TASKS),
        {"part": "tasks"},
    ),
}
_COSINE = Axis("cosine", "cosine", low="low", high="high")
_FULL = ["mean_full", "attention_full"]
_READ = ["full", "norm", "trunc"]
_FIGURES: dict[str, tuple[Any, ...]] = {
    "fig2_sources": ("sources", Bars("combo", [Axis("f1", "CoNLL F1", low="low", high="high")], "CoNLL F1"), "R1"),
    "fig3_cossim": ("similarity", Bars("combo", [_COSINE], "Cosine with Coref"), "R13"),
    "fig4_mean_vs_attention": ("scores", drawn_bars("aggregation", sources=[1, 2], cell=_FULL), "R7"),
    "fig5_layers": (
        "layers", Curves(Axis("layer", "Layer"), [Axis("f1", "CoNLL F1", low="low", high="high")], "combo", ""), "R5",
    ),
    "fig6_single_modes": ("scores", drawn_bars("mode", "aggregation", sources=1, mode=_READ), "R9"),
    "fig7_pair_modes": ("scores", drawn_bars("mode", "aggregation", sources=2, mode=_READ)),
    "fig8_single_and_pairs": ("scores", drawn_bars("sources", "aggregation", sources=[1, 2], cell=_FULL), "R8"),
    "fig9_attention_share": ("weights", drawn_weights, "R11"),
}  # fmt: skip
RESULTS = results_of(
    "reverse-probing",
    tables=_TABLES,
    figures=_FIGURES,
    ours={
        "table1": in_cells("table1"),
        "table2": in_cells("table2"),
        "table3": in_cells("table3"),
        "layers": of_layers,
        "figure2": of_figure2,
        "sum": of_sum,
    },
    claims=CLAIMS,
    twins=TWINS,
    unjudged={"nano": "a few documents and steps test the workflow, not the claim"},
    labels=NAMES,
)
