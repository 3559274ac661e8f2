"""What domain-adaptive masking declares of its results: factors, metrics, tables, figures, claims, printed tables."""

from reprlab.papers.domain_adaptive_masking.claims import CLAIMS
from reprlab.papers.domain_adaptive_masking.tables import (
    annotated,
    compute,
    held_out_losses,
    masks,
    named_entities,
)
from reprlab.results.comparison import Match, Printed
from reprlab.results.figures import Axis, Curves
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric
from reprlab.results.tables import Listing, Pivot

NONE, UNTRAINED = "none", "untrained"
MASKINGS = (UNTRAINED, NONE, "random", "random_span", "concept")
# What is masked in held-out text: the masking whose recipe it is, and the text that has the marks for it.
MASKS = {"tokens": ("random", "blocks"), "concepts": ("concept", "marked")}
_STEPS = ("graph", "frequent", "basic", "expanded", "after_general", "after_domain")

FACTORS = {
    "part": Factor(
        about="curriculum, thresholds, marks: of the concepts; training, held_out: losses; entities, tagging: of tasks",
        values=("curriculum", "thresholds", "marks", "training", "held_out", "entities", "tagging"),
    ),
    "task": Factor(about="data set of named entities"),
    "masking": Factor(
        about="what was masked in continued pre-training; none: the model before it; untrained: its random weights",
        values=MASKINGS,
    ),
    "masks": Factor(about="what is masked in held-out text", values=tuple(MASKS)),
    "after": Factor(about="step of the curriculum after which concepts are counted", values=_STEPS),
    "threshold": Factor(about="threshold that is changed, the others as they are"),
    "setting": Factor(about="its value", kind="number"),
    "counted": Factor(about="split whose text or entities are counted"),
    "step": Factor(about="update", kind="whole"),
    "batch": Factor(about="batch of held-out text", kind="whole"),
    "pretraining_seed": Factor(about="seed of continued pre-training", kind="whole"),
    "seed": Factor(about="seed of fine-tuning", kind="whole"),
}
METRICS = {
    "concepts": Metric(about="concepts of the graph that are left", unit="count"),
    "concept_tokens": Metric(about="share of tokens inside a concept of the curriculum", unit="percent"),
    "blocks_without": Metric(about="share of blocks without a concept", unit="percent"),
    "concepts_per_block": Metric(about="concepts a block", unit="number"),
    "masked_share": Metric(about="share of tokens that were masked since the last row of the log", unit="percent"),
    "empty_share": Metric(about="share of batches without a concept", unit="percent"),
    "loss": Metric(about="training loss, nats a masked token", unit="nats"),
    "loss_sum": Metric(about="sum of the loss over masked tokens", unit="nats"),
    "count": Metric(about="masked tokens", unit="count"),
    "correct": Metric(about="masked tokens that were restored", unit="count"),
    "total": Metric(about="masked tokens", unit="count"),
    "entities": Metric(about="entities of a data set", unit="count"),
    "entity_f1": Metric(about="F1 of entities, both ends and type right", unit="percent"),
    "entity_precision": Metric(about="precision of the same", unit="percent"),
    "entity_recall": Metric(about="recall of the same", unit="percent"),
}
TABLES = [
    Table("table1", "Entities of each data set (Table 1).", annotated, {"part": "entities", "metric": "entities"}),
    Table(
        "table2",
        "Entity F1 on test by what was masked in continued pre-training (Table 2).",
        Pivot("task", "masking", "scale data n steps tokens", "low high learned", "pretraining_seed seed"),
        {"part": "tagging", "metric": "entity_f1"},
    ),
    Table(
        "scores",
        "Precision, recall and F1 of every fine-tuned model, beside what the words alone say.",
        Listing(
            "task masking pretraining_seed seed metric value low high n steps tokens baseline baseline_value margin "
            "margin_untrained learned data scale"
        ),
        {"part": "tagging"},
    ),
    Table(
        "curriculum",
        "Concepts left after every step of the curriculum.",
        Listing("after concepts=value data scale"),
        {"part": "curriculum"},
    ),
    Table(
        "thresholds",
        "Concepts left after every step, by threshold.",
        Listing("threshold setting after concepts=value data scale"),
        {"part": "thresholds"},
    ),
    Table(
        "mask_stats",
        "Concepts in the domain's text, and the share of tokens that was masked.",
        masks,
        {"part": ("marks", "training"), "metric": ("concept_tokens", "blocks_without", "concepts_per_block",
                                                   "masked_share", "empty_share")},
    ),
    Table("pretrain_loss", "Loss and accuracy on held-out text of the domain.", held_out_losses, {"part": "held_out"}),
    Table("compute", "Updates and tokens of each masking.", compute, {"part": "training", "metric": "loss"}),
]  # fmt: skip
FIGURES = [
    Figure(
        "thresholds",
        "What each threshold does to the curriculum.",
        "thresholds",
        Curves(Axis("setting", "Threshold"), [Axis("concepts", "Concepts")], line="after", panel="threshold"),
    ),
    Figure(
        "held_out",
        "Loss on held-out text of the domain, random tokens or concepts masked.",
        "pretrain_loss",
        Curves(Axis("step", "Update"), [Axis("loss", "Nats a token")], line="masking", panel="masks"),
    ),
]
_MODELS = ("sota", "bert", "biobert_v1_0", "biobert_v1_1", "ours")
PRINTED = {
    "table1": Printed(("task",), ("annotations",), Match("table1", {"task": "task"}, places=0)),
    "table2": Printed(("task",), _MODELS, named_entities),
}
RESULTS = PaperResults(
    factors=FACTORS,
    metrics=METRICS,
    tables=TABLES,
    claims=CLAIMS,
    figures=FIGURES,
    printed=PRINTED,
    unjudged={"nano": "a few updates test the workflow, not the claim"},
)
