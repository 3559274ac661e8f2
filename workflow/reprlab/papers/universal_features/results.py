"""What universal features declares of its results: factors, metrics, tables, figures, claims, printed tables."""

from typing import Any

from reprlab.papers.universal_features.claims import CLAIMS, TWINS
from reprlab.papers.universal_features.comparison import cards, sweep_points
from reprlab.papers.universal_features.figures import design, histograms, sankey, shaded
from reprlab.papers.universal_features.neighbours import NEIGHBOURS
from reprlab.papers.universal_features.tables import (
    contexts,
    controls,
    flow,
    formatting,
    interpreted,
    losses,
    merged_sources,
    observed,
    persistence,
    sweep,
    ways,
)
from reprlab.results.comparison import Find
from reprlab.results.figures import Axis, Curves
from reprlab.results.table_forms import Listing, Pivot
from reprlab.results.words import results_of

_EDGES = (
    "parent_alive",
    "child_alive",
    "persisting",
    "disappeared",
    "matched",
    "emerged",
    "share_parent",
    "share_child",
)
_MERGED = ("from_first", "from_second", "from_both", "emerged", "universal", "universal_share")
_SUMS = ("loss_sum", "count", "correct")
_MODELS = ("untrained", "base", "lua", "stories", "merged")

_TABLES: dict[str, tuple[Any, Any]] = {
    "models": (losses, {"part": "models", "model": _MODELS, "metric": _SUMS}),
    "sae_quality": (Pivot("model seed autoencoder_seed", "metric", "scale n data", ""), {"part": "quality"}),
    "sample_features": (observed, {"part": "flow", "metric": ("alive", "dead", "unobserved")}),
    "fig2_feature_flow": (flow, {"part": "flow", "parent": ("base", "lua", "stories", "unrelated", "merged",
     "base_neurons", "lua_neurons", "stories_neurons"), "metric": _EDGES}),
    "merged_sources": (merged_sources, {"part": "flow", "control": "", "dictionary": "trained", "child": "merged",
     "parent": ("children", "base"), "metric": _MERGED}),
    "flow_controls": (controls, {"part": "flow", "metric": "share_parent"}),
    "persistence": (persistence, {"part": "flow", "metric": ("share_parent", "parent_alive")}),
    "fig3_universal_feature": (contexts, {"part": ("cases", "contexts"), "case": "assignment"}),
    "fig4_lost_feature": (contexts, {"part": ("cases", "contexts"), "case": "exception"}),
    "fig5_slerp_sweep": (sweep, {"part": "models", "model": ("sweep", "base"), "corpus": ("lua", "stories"),
     "metric": _SUMS}),
    "merging_ways": (ways, {"part": "models", "model": ("sweep", "linear", "task_arithmetic", "ties", "dare"),
     "corpus": ("lua", "stories"), "metric": ("loss_sum", "count")}),
    "fig6_autointerp": (interpreted, {"part": "interpretation"}),
    "case_links": (Listing("case seed model feature partner metric value data scale"), {"part": "cases"}),
    "formatting": (formatting, {"part": "formatting"}),
}  # fmt: skip
_FIGURES: dict[str, tuple[Any, ...]] = {
    "fig1_design": ("models", design, "F1"),
    "fig2_feature_flow": ("fig2_feature_flow", sankey, "F7"),
    "fig3_universal_feature": ("fig3_universal_feature", shaded),
    "fig4_lost_feature": ("fig4_lost_feature", shaded),
    "fig5_slerp_sweep": (
        "fig5_slerp_sweep",
        Curves(
            Axis("t", "t (0 = Lua, 1 = stories)"),
            [Axis("accuracy", "Accuracy (%)", level="baseline_accuracy", level_label="base model")],
            line="corpus",
            panel="seed",
        ),
        "F6",
    ),
    "fig6_autointerp": ("fig6_autointerp", histograms, "F13"),
    "persistence": (
        "persistence",
        Curves(
            Axis("threshold", "Correlation from which a feature persists"),
            [Axis("share_parent", "Persisting (%)", low="low", high="high")],
            line="control",
            panel="edge",
        ),
        "F8",
    ),
}
_NOT_KNOWN = "the paper's figure could not be read: its values are not known here"
_OURS: dict[str, Find] = {"sweep": sweep_points, "cards": cards}
RESULTS = results_of(
    "universal-features",
    tables=_TABLES,
    figures=_FIGURES,
    ours=_OURS,
    claims=CLAIMS,
    twins=TWINS,
    neighbours=NEIGHBOURS,
    unjudged={"nano": "a few updates test the workflow, not the claim"},
)
