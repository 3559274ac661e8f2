"""Results of punctuation restoration, declared: factors, metrics, tables, figures, claims, printed tables."""

from typing import Any

from reprlab.papers.punctuation_restoration.claims import CLAIMS, TWINS
from reprlab.papers.punctuation_restoration.tables_structure import (
    arms,
    by_init,
    examples,
    first_losses,
    generative,
    over_seeds,
    restoration_of,
    restored,
    restored_at_last,
    sizes_of_data,
)
from reprlab.results.comparison import Find
from reprlab.results.figures import Axis, Curves
from reprlab.results.table_forms import Listing
from reprlab.results.words import results_of

_TABLES: dict[str, tuple[Any, Any]] = {
    "table1": (by_init, {"part": "generative"}),
    "table2": (by_init, {"part": "joint"}),
    "table3": (over_seeds, {"part": "discriminative"}),
    "table4": (examples, {"part": "pairs"}),
    "table5": (sizes_of_data, {"part": "pairs"}),
    "table6": (restored_at_last, {"part": "restoration"}),
    "restoration": (restored, {"part": "restoration"}),
    "arms": (arms, {"part": "arms"}),
    "losses": (first_losses, {"part": "losses"}),
    "scores": (
        Listing(
            "part task train_set eval_set init seed metric value low high n seen steps tokens baseline baseline_value "
            "margin above_trivial data scale"
        ),
        {"part": ("generative", "joint", "discriminative")},
    ),
}
_FIGURES: dict[str, tuple[Any, ...]] = {
    "restoration": (
        "restoration",
        Curves(Axis("update", "Update"), [Axis("f1", "F1 of restoration (%)", "low", "high")], line="size", panel=""),
        "P1",
    ),
    "losses": (
        "losses",
        Curves(Axis("epoch", "Passes"), [Axis("loss", "Nats a token")], line="init", panel="task train_set"),
        "P6",
    ),
}
_OURS: dict[str, Find] = {
    "table1": generative,
    "table2": generative,
    "table6": restoration_of,
}
RESULTS = results_of(
    "punctuation-restoration",
    tables=_TABLES,
    figures=_FIGURES,
    ours=_OURS,
    claims=CLAIMS,
    twins=TWINS,
    unjudged={"nano": "a few updates test the workflow, not the claim"},
)
