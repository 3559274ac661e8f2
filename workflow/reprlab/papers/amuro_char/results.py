"""What stands in `results/amuro-char`: factors, metrics, tables, figures, claims, printed values."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

from reprlab.evaluation.completion_settings import Method
from reprlab.papers.amuro_char import tables, tables_changes
from reprlab.papers.amuro_char.claims import CLAIMS
from reprlab.papers.amuro_char.figures import (
    draw_final_formats,
    draw_final_ood,
    draw_gains,
    draw_ood,
    of_model,
)
from reprlab.papers.amuro_char.names import (
    BASE,
    CLASS_TO_GEN,
    GEN_TO_CLASS,
    MAIN_METHODS,
    PREDICTION_METHODS,
)
from reprlab.papers.amuro_char.tables import HEADLINE, SCORES
from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, Printed, about
from reprlab.results.figures import Axis, Curves
from reprlab.results.frame import Rows
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric

FACTORS = {
    "family": Factor(about="model"),
    "ckpt": Factor(about="its checkpoint: the step, or main for the last one"),
    "step": Factor(about="updates of pre-training", kind="whole"),
    "train": Factor(about=f"training set of fine-tuning; {BASE}: none"),
    "eval": Factor(about="evaluation set, by the name of its place in the paper"),
    "kind": Factor(about="kind of task", values=("generation", "classification", "choice")),
    "fmt": Factor(about="format of the prompt", values=("default", "io", "instruct")),
    "shots": Factor(about="demonstrations in the prompt", kind="whole"),
    "method": Factor(about="how the answer is found", values=get_args(Method)),
    "seed": Factor(about="seed of fine-tuning", kind="whole"),
    "lr": Factor(about="learning rate, chosen on held-out rows of the training set", kind="number"),
    "train_rows": Factor(about="examples of fine-tuning", kind="whole"),
    "batch": Factor(about="held-out batch of the ladder's corpus", kind="whole"),
    "performance_boot": Factor(about="middle of the percentile interval, as the original reports (%)", kind="number"),
    "std": Factor(about="bootstrap standard error (%)", kind="number"),
    "majority": Factor(about="score of the most frequent answer on the same examples (%)", kind="number"),
    "histogram": Factor(about="predictions by label, as JSON"),
    "outside_labels": Factor(about="share of predictions that are no label (%)", kind="number"),
    "empty_share": Factor(about="share of empty outputs (%)", kind="number"),
    "mean_output_tokens": Factor(about="tokens of a generated text", kind="number"),
    "dropped_shots": Factor(about="demonstrations that did not fit", kind="whole"),
    "note": Factor(about="what a reader must know of the score"),
}
METRICS = {
    "accuracy": Metric(about="share of right answers", unit="percent"),
    "rougeL": Metric(about="ROUGE-L F of generated texts", unit="percent"),
    "loss_sum": Metric(about="summed loss of a held-out batch", unit="nats"),
    "count": Metric(about="tokens of a held-out batch", unit="count"),
}
_METHODS: dict[str, Any] = {**HEADLINE, "method": PREDICTION_METHODS}
_FORMATS: dict[str, Any] = {name: wanted for name, wanted in HEADLINE.items() if name != "fmt"}
_SHOTS: dict[str, Any] = {"metric": SCORES, "fmt": "default", "method": MAIN_METHODS, "train": BASE}
_MADE: dict[str, tuple[Any, Any]] = {
    "perf": (tables.perf_table, {"metric": SCORES}),
    "table3_prediction_method": (tables.prediction_table, _METHODS),
    "table6_perf_diff": (tables_changes.perf_diff_table, HEADLINE),
    "mrc": (tables_changes.mrc_table, HEADLINE),
    "ood_change": (tables_changes.ood_table, HEADLINE),
    "unlabelled_gold": (tables_changes.unlabelled_table, HEADLINE),
    "format": (tables.format_table, _FORMATS),
    "fig6_fewshot_base": (tables.fewshot_table, _SHOTS),
    "curves": (tables.curves_table, HEADLINE),
}
_CAPTIONS = {
    "perf": "Every score in long form, with its majority baseline and histogram of predictions.",
    "table3_prediction_method": "Three ways to read a label, final checkpoint (Table 3).",
    "table6_perf_diff": "Mean gain of fine-tuning by group of sets, with and without the repeated SciQ (Table 6).",
    "mrc": "Ratios of change between classification and generation, and their mean (equation 1, section 4.3).",
    "ood_change": "Change on sets of the same task from elsewhere, as ratio and as difference (Figures 5, 15).",
    "unlabelled_gold": "What scoring sets without labels as if all golds were 'no' does.",
    "format": "Scores by format of the prompt (Figures 2, 3, 14).",
    "fig6_fewshot_base": "Models before fine-tuning, by number of demonstrations (Figure 6).",
    "curves": "Base and fine-tuned models along pre-training, by figure (Figures 7, 9 to 13).",
}
TABLES = tuple(Table(name, _CAPTIONS[name], build, where) for name, (build, where) in _MADE.items())
_LADDER = Axis("place", "checkpoint", ticks="ckpt")
_PERFORMANCE = Axis("performance", "score (%)", "low", "high", "majority", "most frequent class")
_PAIRS = {
    "fig7": "A set that pre-training solves and one that it does not (Figure 7).",
    "fig9": "The instruction-tuned model (Figure 9).",
    "fig10": "Fine-tuning in domain (Figure 10).",
    "fig11": "Fine-tuning out of domain (Figure 11).",
    "fig12": "Trained on classification, scored on another task (Figure 12).",
    "fig13": "Trained on generation, scored on classification (Figure 13).",
}
FIGURES = (
    Figure(
        "fig2_fig14_format",
        "Three formats of the prompt, before and after fine-tuning (Figures 2, 14).",
        "format",
        of_model(Curves(_LADDER, [_PERFORMANCE], "series", "eval")),
    ),
    Figure("fig3", "Formats at the final checkpoint (Figure 3).", "format", of_model(draw_final_formats, -1)),
    Figure("fig5", "Out-of-domain change by task, mean over checkpoints (Figure 5).", "ood_change", of_model(draw_ood)),
    Figure(
        "fig15",
        "Out-of-domain change by task, final checkpoint (Figure 15).",
        "ood_change",
        of_model(draw_final_ood, -1),
    ),
    Figure(
        "fig6_fewshot_base",
        "Models before fine-tuning along pre-training (Figure 6).",
        "fig6_fewshot_base",
        of_model(Curves(_LADDER, [Axis("performance", "score (%)")], "eval", "panel")),
    ),
    Figure("fig8", "Mean gain of fine-tuning by group of sets (Figure 8).", "table6_perf_diff", of_model(draw_gains)),
    *(
        Figure(name, caption, "curves", Curves(_LADDER, [_PERFORMANCE], "series", "panel", {"figure": name}))
        for name, caption in _PAIRS.items()
    ),
)
# Tables 3 and 6 and the text of section 4.3 speak of it.
_FAMILY = "olmo1b"
_DIRECTIONS = {"mrc_class_to_gen": CLASS_TO_GEN, "mrc_gen_to_class": GEN_TO_CLASS}


def _ours(own: Own, table: str, family: str, **where: str) -> Rows:
    """Rows of our table; below paper scale, where one small model stands for OLMo, those of the first model."""
    if own.frame.scale != "paper" and family == _FAMILY:
        family = next(iter(own.table(table).get("family", ())), "")
    return own.rows(table, family=family, **where)


def _beside(one: Cell, scale: str, *more: str) -> str:
    return "; ".join([about(one, "", scale), one["family"], *(part for part in more if part)])


def _cell(table: str, keys: tuple[str, ...], own: Own, row: Cell, column: str) -> Counterpart:
    """A share of Table 3 or a difference of Table 6, printed in 0 to 1."""
    rows = _ours(own, table, _FAMILY, **{key: row[key] for key in keys})
    if rows.empty:
        where = f": the ladder has no checkpoint {row['ckpt']}" if "ckpt" in keys else ""
        return own.missing(f"not run at scale {own.frame.scale}{where}")
    one = rows.iloc[0]
    if one[column] != one[column]:
        return own.missing(f"not all of its scores were run at scale {own.frame.scale}")
    majority = f"most frequent class {one['majority'] / 100:.3f}" if "majority" in one else one["note"]
    return Counterpart(f"{one[column] / 100:.3f}", _beside(one, own.frame.scale, majority))


def _statement(own: Own, row: Cell, column: str) -> Counterpart:
    """What the text states: mean ratios of change in percent."""
    direction = _DIRECTIONS.get(row["quantity"])
    if direction is None:
        return own.missing("a count, a sum or a reading of a figure: see the audit and the claims")
    rows = _ours(own, "mrc", row["family"], row="summary", direction=direction, ckpt="all")
    if rows.empty or rows["ratio"].isna().all():
        return own.missing(f"{row['family']} is not run at scale {own.frame.scale}")
    one = rows.iloc[0]
    counts = f"mean of {one['ratios']} ratios, median {100 * one['median']:.1f}; {one['skipped']} zero bases skipped"
    return Counterpart(f"{100 * one['ratio']:.1f}", _beside(one, own.frame.scale, counts))


_KEYS = {"table3_prediction_method": ("dataset", "model"), "table6_perf_diff": ("ckpt",)}
_VALUES = {
    "table3_prediction_method": PREDICTION_METHODS,
    "table6_perf_diff": ("learned_in_pretrain", "learned_in_finetune"),
}
PRINTED = {
    **{name: Printed(keys, _VALUES[name], partial(_cell, name, keys)) for name, keys in _KEYS.items()},
    "table4_gpu_hours": Printed(
        ("activity",),
        ("xsum", "socialiqa", "mnli", "paws"),
        "times are no results: gpu_hours.tsv has them side by side",
    ),
    "statements": Printed(("quantity", "family"), ("value",), _statement),
}
RESULTS = PaperResults(
    factors=FACTORS,
    metrics=METRICS,
    tables=TABLES,
    figures=FIGURES,
    claims=CLAIMS,
    printed=PRINTED,
    unjudged={"nano": "a few steps, for tests"},
)
