"""Results of soft prompts as encoders, declared: factors, metrics, tables, figures, claims and printed tables."""

from functools import partial
from typing import Any

from reprlab.papers.prompt_tuning_encoders.claims import CLAIMS, TWINS
from reprlab.papers.prompt_tuning_encoders.names import LABELS
from reprlab.papers.prompt_tuning_encoders.neighbours import NEIGHBOURS
from reprlab.papers.prompt_tuning_encoders.tables_prompts import (
    attention_pairs,
    beside_prefixes,
    by_size,
    category_means,
    choice_of_size,
    courses,
    per_data_set,
    printed_row,
    sizes,
)
from reprlab.results.comparison import Find
from reprlab.results.figures import Axis, Bars, Curves
from reprlab.results.words import results_of

_SCORED = ("ndcg_at_10", "spearman", "v_measure", "accuracy")
_WITH_SHARE = {"metric": (*_SCORED, "share")}
_TABLES: dict[str, tuple[Any, Any]] = {
    "table1": (category_means, _WITH_SHARE),
    "table2": (by_size, _WITH_SHARE),
    "table3": (
        beside_prefixes,
        {**_WITH_SHARE, "encoder": ("lora_bi", "lora_uni", "spt_uni_eosp", "spt_v2")},
    ),
    "table4": (sizes, {"metric": ("trained", "total", "share")}),
    "table5": (per_data_set, {"category": "sts", "metric": "spearman"}),
    "figure1": (attention_pairs, _WITH_SHARE),
    "figure3": (by_size, _WITH_SHARE),
    "choice": (choice_of_size, {"metric": (*_SCORED, "share", "held_out")}),
    "courses": (courses, {"metric": ("loss", "held_out")}),
}
_FIGURES: dict[str, tuple[Any, ...]] = {
    "figure1": (
        "figure1",
        Bars("category", [Axis("value", "Score")], "Score", line="encoder", panel="backbone"),
        "P8",
    ),
    "figure3": (
        "figure3",
        Curves(
            Axis("size", "Vectors"),
            [Axis("sts", "Spearman, percent")],
            line="pooling",
            panel="backbone",
            where={"attention": "uni"},
        ),
    ),
    "courses": (
        "courses",
        Curves(
            Axis("step", "Step"), [Axis("value", "Loss, nats")], line="row", panel="backbone", where={"metric": "loss"}
        ),
        "P2",
    ),
}
_OURS: dict[str, Find] = {
    "table1": partial(printed_row, table="table1"),
    "table2": partial(printed_row, table="table2"),
    "table3": partial(printed_row, table="table3"),
    "table4": partial(printed_row, table="table4"),
    "table5": partial(printed_row, table="table5"),
}
RESULTS = results_of(
    "prompt-tuning-encoders",
    tables=_TABLES,
    figures=_FIGURES,
    ours=_OURS,
    claims=CLAIMS,
    twins=TWINS,
    neighbours=NEIGHBOURS,
    unjudged={"nano": "a few steps and queries test the workflow, not the claim"},
    labels=LABELS,
)
