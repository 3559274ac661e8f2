"""Results of domain-adaptive masking, declared: factors, metrics, tables, figures, claims, printed tables."""

from typing import Any

from reprlab.papers.domain_adaptive_masking.claims import CLAIMS, TWINS
from reprlab.papers.domain_adaptive_masking.neighbours import NEIGHBOURS
from reprlab.papers.domain_adaptive_masking.tables_masking import (
    annotated,
    compute,
    forgetting,
    held_out_controls,
    held_out_losses,
    masks,
    named_entities,
    scores_by_masking,
    sizes,
    training_losses,
)
from reprlab.results.comparison import Find, Match
from reprlab.results.figures import Axis, Curves
from reprlab.results.table_forms import Listing
from reprlab.results.words import results_of

NONE, UNTRAINED, UNIGRAM = "none", "untrained", "unigram"
MASKINGS = (UNTRAINED, NONE, "random", "random_span", "concept")
# What is masked in held-out text: the masking whose recipe it is, and which text it is.
MASKS = {"tokens": ("random", "blocks"), "concepts": ("concept", "marked"), "general": ("random", "general")}
# What the log says of masks: the mean since its last row, and the least and the greatest of a single batch.
SHARES = ("masked_share", "masked_share_least", "masked_share_most", "empty_share")
# What it says of replay: shares of the blocks and of the tokens that were read.
REPLAYED = ("replayed_share", "replayed_tokens_share")

_TABLES: dict[str, tuple[Any, Any]] = {
    "table1": (annotated, {"part": "entities", "metric": "entities"}),
    "table2": (scores_by_masking, {"part": "tagging", "metric": "entity_f1"}),
    "scores": (
        Listing(
            "task masking pretraining_seed seed metric value low high n seen steps tokens baseline baseline_value "
            "margin margin_untrained above_trivial above_untrained data scale"
        ),
        {"part": "tagging"},
    ),
    "curriculum": (sizes, {"part": "curriculum"}),
    "thresholds": (Listing("threshold setting after concepts=value data scale"), {"part": "thresholds"}),
    "mask_stats": (
        masks,
        {
            "part": ("marks", "training"),
            "metric": ("concept_tokens", "blocks_without", "concepts_per_block", *SHARES),
        },
    ),
    "training_loss": (training_losses, {"part": "training", "metric": ("loss", "masked_share")}),
    "pretrain_loss": (held_out_losses, {"part": "held_out"}),
    "mask_controls": (held_out_controls, {"part": "controls"}),
    "replay": (forgetting, {"part": ("held_out", "replay")}),
    "compute": (compute, {"part": "training", "metric": "loss"}),
}
_FIGURES: dict[str, tuple[Any, ...]] = {
    "thresholds": (
        "thresholds",
        Curves(Axis("setting", "Threshold"), [Axis("concepts", "Concepts", log=True)], line="after", panel="threshold"),
    ),
    "training_loss": (
        "training_loss",
        Curves(
            Axis("step", "Update"),
            [Axis("loss", "Nats a masked token"), Axis("masked_share", "Masked tokens (%)")],
            line="masking",
            panel="",
        ),
    ),
    "held_out": (
        "pretrain_loss",
        Curves(Axis("step", "Update"), [Axis("loss", "Nats a token")], line="masking", panel="masks"),
        "D4",
    ),
    "replay": (
        "replay",
        Curves(
            Axis("replay", "Replayed blocks (%)"),
            [
                Axis("general", "General text, nats a token"),
                Axis("concepts", "Concepts, nats a token"),
                Axis("tokens", "Random tokens, nats a token"),
            ],
            line="masking",
            panel="",
        ),
        "D12",
    ),
}
_OURS: dict[str, Find] = {
    "table1": Match("table1", {"task": "task"}, places=0),
    "table2": named_entities,
}
RESULTS = results_of(
    "domain-adaptive-masking",
    tables=_TABLES,
    figures=_FIGURES,
    ours=_OURS,
    claims=CLAIMS,
    twins=TWINS,
    neighbours=NEIGHBOURS,
    unjudged={"nano": "a few updates test the workflow, not the claim"},
)
