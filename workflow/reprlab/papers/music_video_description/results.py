"""What music-video-description declares about its results: tables, figures, claims and printed tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.papers.music_video_description.claims import CLAIMS, TWINS
from reprlab.papers.music_video_description.neighbours import NEIGHBOURS
from reprlab.results.comparison import Match
from reprlab.results.figures import Axis, Bars, Curves
from reprlab.results.frame import Rows, chosen
from reprlab.results.records import Drawn
from reprlab.results.table_forms import Listing, Pivot
from reprlab.results.words import results_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED = ("bleu1", "bleu4", "rouge_p", "rouge_r", "rouge_f1", "bert_p", "bert_r", "bert_f1")
_SCORES = {"part": "scores"}
_EVERY = (
    "section inputs seed metric value low high n seen steps tokens baseline baseline_value margin above_trivial "
    "above_untrained encoder data scale"
)
_TABLES: dict[str, tuple[Any, Any]] = {
    "table1": (
        Pivot("section inputs", "metric", "scale seed n encoder", "data above_trivial above_untrained", over="seed"),
        {**_SCORES, "metric": PRINTED},
    ),
    "forms": (
        Pivot("section inputs", "metric", "scale seed n", "data", over="seed"),
        {**_SCORES, "metric": ("well_formed", "empty")},
    ),
    "scores": (Listing(_EVERY), {**_SCORES, "metric": PRINTED}),
    "feature_accuracy": (
        Listing("genre metric value low high baseline baseline_value margin above_trivial n data scale"),
        {"part": "hearing"},
    ),
    "features": (Pivot("track genre key chords", "metric", "scale", ""), {"part": "features"}),
    "annotation_cost": (Pivot("text", "metric", "scale", "data"), {"part": "cost"}),
    "losses": (Listing("task inputs seed step value data scale"), {"part": "losses"}),
}
_VALUE = Axis("value", "Percent", low="low", high="high")


def bleu4_bars(table: Rows, drawn: Drawn) -> Figure:
    """BLEU-4 by inputs, a panel for each seed."""
    bars = Bars("inputs", [_VALUE], "BLEU-4", line="section", panel="seed")
    return bars(chosen(table, {"metric": "bleu4"}), drawn)


_FIGURES: dict[str, tuple[Any, ...]] = {
    "fig_table1": ("scores", bleu4_bars, "M2"),
    "fig_features": ("feature_accuracy", Bars("metric", [_VALUE], "Right (%)", line="genre")),
    "fig_losses": (
        "losses",
        Curves(Axis("step", "Update"), [Axis("value", "Loss (nats)")], "inputs", "task", where={"seed": 0}),
    ),
}
_KEYS = {"section": "section", "inputs": "inputs"}
RESULTS = results_of(
    "music-video-description",
    tables=_TABLES,
    figures=_FIGURES,
    ours={"table1": Match("table1", _KEYS, places=1)},
    claims=CLAIMS,
    twins=TWINS,
    neighbours=NEIGHBOURS,
    unjudged={"nano": "a few updates test the workflow, not the claim"},
)
