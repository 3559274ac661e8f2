"""Statistics and rules of the paper's claims, written before any number was seen.

Section 6 of the specification lists what short runs cannot show: the plateau beyond ten demonstrations, the peak of the
AUC at the peak of accuracy, likeness across model families. Below paper scale their numbers are reported, not judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from reprlab.papers.intrinsic_dimension.measures import ALL, SETTING, TWO_NN, is_half
from reprlab.results.claims import Claim, NoVerdict
from reprlab.results.contrasts import Contrast
from reprlab.results.frame import Frame, Option, Rows
from reprlab.results.twins import Twin
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Estimate,
    Rule,
    correlation_over_halves,
    mean_correlation,
    mean_over_crossed,
    over_halves,
    proportion,
)
from reprlab.statistics.correlations import fisher_z

# Of the rows of one experiment on one set of prompts: a value for each model and data set.
Statistic = Callable[[Rows], Any]
_STEPS, _SETTINGS = 5, 6
_LARGE: dict[str, Any] = {"only_at": ("paper",), "because": "needs the published models"}


def crossed(values: Rows) -> Estimate:
    """Mean over models and data sets; `values` have them as their index."""
    return mean_over_crossed(
        values, {name: values.index.get_level_values(level) for name, level in (("model", 0), ("data set", 1))}
    )


def over_settings(experiment: str, statistic: Statistic, **where: Any) -> Callable[[Frame], Estimate | str]:
    """Mean of a statistic over models and data sets; with one of each, its interval is over halves of the prompts."""

    def find(frame: Frame) -> Estimate | str:
        values, halves = _by_items(frame, statistic, experiment=experiment, **(where or TWO_NN))
        if len(values) > 1:
            return crossed(values)
        return over_halves(values.item(), [half.item() for half in halves], "prompt") if len(values) else ""

    return find


def over_twin(experiment: str, drawn: str, statistic: Statistic, **where: Any) -> Callable[[Frame], Estimate | str]:
    """As `over_settings`, less the same statistic of the drawn model on the same data set (its rows in `drawn`)."""

    def find(frame: Frame) -> Estimate | str:
        (values, halves), (twin, parts) = (
            _by_items(frame, statistic, experiment=name, **(where or TWO_NN)) for name in (experiment, drawn)
        )
        if not len(twin):
            return frame.reason(experiment=drawn) or f"the drawn model is not run at scale {frame.scale}"
        gaps = [_less(one, other) for one, other in zip([values, *halves], [twin, *parts], strict=True)]
        if len(gaps[0]) > 1:
            return crossed(gaps[0])
        return over_halves(gaps[0].item(), [one.item() for one in gaps[1:]], "prompt") if len(gaps[0]) else ""

    return find


def _less(values: Rows, twin: Rows) -> Rows:
    """Values by model and data set less those of one drawn model by data set."""
    beside = twin.groupby("dataset").mean().reindex(values.index.get_level_values("dataset"))
    return (values - beside.to_numpy()).dropna()


def gap(first: str, second: str) -> Statistic:
    """AUC of one condition minus that of another."""

    def statistic(rows: Rows) -> Rows:
        wide = _wide(rows, "condition")
        return wide[first] - wide[second] if {first, second} <= set(wide) else wide.iloc[:0, 0]

    return statistic


def less_than_half_way(rows: Rows) -> Rows:
    """How far fine-tuning moves from icl_0 towards icl_5, or stays short of half of the way, the less of both.

    That it is nearer to zero-shot holds of a model without fine-tuning, which is there; a way that was gone does not.
    """
    wide = _wide(rows, "condition").reindex(columns=["icl_0", "icl_5", "sft_1k"])
    way = wide["icl_5"] - wide["icl_0"]
    moved = (wide["sft_1k"] - wide["icl_0"]) * (1 - 2 * (way < 0))
    return moved.where(moved < way.abs() / 2 - moved, way.abs() / 2 - moved)


def rise(rows: Rows) -> Rows:
    """AUC at the last step minus AUC at step 0 on validation prompts."""
    wide = _wide(rows[rows["split"] == "validation"], "step")
    return wide[wide.columns.max()] - wide[0]


def change_of_later_layers(rows: Rows) -> Rows:
    """Mean absolute change of dimension in the later half of the layers minus that in the early half."""
    wide = _wide(rows[rows["split"] == "validation"], "step", "layer")
    change = (wide[wide.columns.max()] - wide[0]).abs().reset_index(name="change")
    late = change["layer"] > change.groupby(SETTING)["layer"].transform("max") / 2
    early, later = (change[part].groupby(SETTING, sort=False)["change"].mean() for part in (~late, late))
    return later - early


def rise_up_to_five(rows: Rows) -> Rows:
    """AUC of the largest k up to 5 minus AUC of k = 0."""
    few = [k for k in rows["k"].unique() if 0 < k <= 5]
    return gap(f"icl_{max(few)}", "icl_0")(rows) if few else rows["value"].iloc[:0]


def change_beyond_ten(rows: Rows) -> Rows:
    """AUC of the largest k minus AUC of k = 10; nothing where no k is above 10."""
    most = rows["k"].max()
    return gap(f"icl_{most}", "icl_10")(rows) if most > 10 else rows["value"].iloc[:0]


def correlation_of_splits(frame: Frame) -> Estimate | str:
    """Correlation over steps of the AUC of training and validation prompts, as many of both, by setting."""
    rows = frame.narrowed(TWO_NN).select(experiment="sft_dynamics", subset=frame.options["equal"])
    wide = _wide(rows, "split", "step").dropna()
    if "train" not in wide:
        return ""
    found = wide.groupby(SETTING).apply(lambda part: part["train"].corr(part["validation"]))
    estimate, steps = mean_correlation(found, "data set"), rows["step"].nunique()
    if steps < _STEPS:
        raise NoVerdict(estimate, f"points: {steps} (step), {_STEPS} are needed")
    return estimate


def peaks(frame: Frame) -> Estimate | str:
    """Share of settings in which the k of the largest AUC is that of the largest accuracy or its neighbour."""
    rows = frame.select(experiment="icl_dynamics", metric=("accuracy", frame.options["auc"]))
    area = _wide(rows[(rows["estimator"] == "two_nn") & (rows["subset"] == ALL)], "k")
    accuracy = _wide(rows[rows["metric"] == "accuracy"], "k").loc[area.index]
    shots = list(area.columns)
    near = [
        abs(shots.index(one) - shots.index(other)) <= 1
        for one, other in zip(area.idxmax(axis=1), accuracy.idxmax(axis=1), strict=True)
    ]
    estimate = proportion(sum(near), len(near), "setting")
    if len(near) < _SETTINGS:
        raise NoVerdict(estimate, f"settings: {len(near)}, {_SETTINGS} are needed")
    return estimate


def spread_of_models(frame: Frame) -> Estimate | str:
    """Deviation of the AUC of icl_5 over models on a data set less that over data sets within a model, means of both.

    The paper says that all lie within a range of 20. AUCs themselves are about 20, and so any order of the conditions
    would be as near; its point is that models represent a data set alike, beside how data sets differ.
    """

    def statistic(rows: Rows) -> Rows:
        wide = rows.pivot_table("value", "dataset", "model")
        over_models, over_sets = (wide.std(axis=axis).dropna().mean() for axis in (1, 0))
        return type(wide.iloc[0])([over_models - over_sets])

    values, halves = _by_items(frame, statistic, **TWO_NN, experiment="comparison", condition="icl_5")
    return over_halves(values.item(), [half.item() for half in halves], "prompt") if len(values) else ""


def correlation_of_estimators(frame: Frame) -> Estimate | str:
    """Correlation of TwoNN and Levina-Bickel over layers, mean over conditions of a data set, then over data sets."""

    def statistic(rows: Rows) -> Rows:
        wide = _wide(rows, "estimator", "condition", "layer").dropna()
        if not {"two_nn", "levina_bickel"} <= set(wide):
            return wide.iloc[:0, 0]
        return wide.groupby([*SETTING, "condition"]).apply(lambda part: part["two_nn"].corr(part["levina_bickel"]))

    both = {"experiment": "comparison", "metric": "id", "estimator": ("two_nn", "levina_bickel")}
    values, halves = _by_items(frame, statistic, **both)
    if not len(values):
        return ""
    by_set = values.groupby("dataset").agg(_mean_of_correlations)
    if len(by_set) > 1:
        return mean_correlation(by_set, "data set")
    return correlation_over_halves(by_set.item(), [_mean_of_correlations(half) for half in halves], "prompt")


def dimension_and_loss(frame: Frame) -> Estimate | str:
    """Rank correlation over prompts of the dimension of their tokens and the next-token loss, mean over data sets; with
    one of them, over its prompts."""
    rows = frame.select(experiment="tokens", metric="dimension_and_loss", tokens_are="written")
    if len(rows) == 1:
        (row,) = rows.itertuples()
        return Estimate(row.value, row.low, row.high, row.n, "prompt", "rank correlation over prompts")
    if rows.empty:
        return frame.reason(experiment="tokens") or f"not run at scale {frame.scale}"
    by_set = rows.groupby("dataset")["value"].agg(_mean_of_correlations)
    return mean_correlation(by_set, "data set")


def _mean_of_correlations(values: Rows) -> float:
    return math.tanh(float(fisher_z(values).mean()))


def _by_items(frame: Frame, statistic: Statistic, **where: Any) -> tuple[Any, list[Any]]:
    """The statistic on all prompts, and on each half of them; of no prompts there is nothing."""
    rows = frame.select(**where)
    whole = rows[rows["subset"] == ALL]
    found = [statistic(part).dropna() for _, part in rows[is_half(rows)].groupby("subset")]
    return statistic(whole).dropna() if len(whole) else whole["value"], found


def _wide(rows: Rows, across: str, *more: str) -> Rows:
    """Values by model and data set (and more), a column for each value of `across`."""
    return rows.pivot_table(index=[*SETTING, *more], columns=across, values="value", sort=False)


def _about(frame: Frame) -> str:
    models = ", ".join(sorted(set(frame.select(experiment="comparison")["model"])))
    return f"scale {frame.scale}, {models}, one seed; TwoNN, {frame.options['auc']}"


def _claim(id: str, claim: str, statistic: str, find: Any, rule: Rule = ABOVE_ZERO, **more: Any) -> Claim:
    return Claim(id, claim, statistic, rule, find, note=_about, **more)


def _more_accurate(first: str, second: str) -> Contrast:
    where = {"experiment": "comparison", "metric": "accuracy"}
    return Contrast(where, {"condition": first}, {"condition": second}, "model dataset", crossed)


_IDS = {"metric": "id", "estimator": "two_nn"}
CLAIMS = (
    _claim("I1", "intrinsic dimension rises in the course of fine-tuning (5.2)",
           "AUC of the last step minus AUC of step 0, validation, mean over models and data sets",
           over_settings("sft_dynamics", rise)),
    _claim("I2", "the later layers change more than the early ones (5.2)",
           "mean absolute change of the later half of the layers minus that of the early half, step 0 to the last",
           over_settings("sft_dynamics", change_of_later_layers, **_IDS)),
    _claim("I3", "AUC of training and validation prompts go together along the steps (5.2)",
           "Pearson correlation over steps, mean over models and data sets, as many prompts of both",
           correlation_of_splits),
    _claim("I4", "intrinsic dimension rises from zero to five demonstrations (6.2), more than in a drawn model",
           "AUC of the largest k up to 5 minus AUC of icl_0, less the same of the drawn model, mean over models and "
           "data sets", over_twin("comparison", "drawn", rise_up_to_five)),
    _claim("I5", "it does so as well when no demonstration is shared between prompts (6.2, appendix D)",
           "AUC of the largest k up to 5 minus AUC of k = 0, less the same of the drawn model, mean over models and "
           "data sets", over_twin("icl_unique", "drawn_unique", rise_up_to_five)),
    _claim("I6", "beyond ten demonstrations it stays or falls (6.2)",
           "AUC of the largest k minus AUC of k = 10, mean over models and data sets",
           over_settings("icl_dynamics", change_beyond_ten), Rule(high=0.0), **_LARGE),
    _claim("I7", "the k of the largest AUC is the k of the largest accuracy, or its neighbour (6.2)",
           "share of models and data sets where both k are the same or next to each other in the grid", peaks,
           Rule(low=0.5), **_LARGE),
    _claim("I8", "five demonstrations give a higher intrinsic dimension than fine-tuning (7.2), by more than they give "
           "without it: fine-tuning lowers it",
           "AUC of icl_5 minus AUC of sft_1k, less the same without fine-tuning (AUC of icl_0 minus AUC of sft_1k), "
           "mean over models and data sets", over_settings("comparison", gap("icl_0", "sft_1k"))),
    _claim("I9", "fine-tuned models stay nearer to zero-shot than to five demonstrations (7.2), and have moved",
           "AUC by which fine-tuning moves towards five demonstrations, or by which it stays short of half of the way, "
           "the less of both, mean over models and data sets", over_settings("comparison", less_than_half_way)),
    _claim("I10", "fine-tuned models are more accurate than five demonstrations (7.4)",
           "accuracy of sft_1k minus that of icl_5 in points, mean over models and data sets",
           _more_accurate("sft_1k", "icl_5")),
    _claim("I11", "models of several families represent a data set alike: AUCs of five demonstrations differ less "
           "between models than between data sets (7.3.1)",
           "deviation of AUC of icl_5 over models less that over data sets", spread_of_models, BELOW_ZERO, **_LARGE),
    _claim("I12", "TwoNN and Levina-Bickel agree (appendix F)",
           "Pearson correlation over layers, mean over conditions and data sets", correlation_of_estimators),
    _claim("I13", "fine-tuned models are more accurate than the same models without demonstrations (7.1, Table 1)",
           "accuracy of sft_1k minus that of icl_0 in points, mean over models and data sets",
           _more_accurate("sft_1k", "icl_0")),
    Claim("I14", "prompts whose tokens fill more dimensions have a larger loss (ours, after Viswanathan et al. 2025)",
          "rank correlation over prompts of the dimension of their tokens and the next-token loss, mean over data sets",
          ABOVE_ZERO, dimension_and_loss, {"experiment": "tokens", "metric": "dimension_and_loss"}),
)  # fmt: skip
TWINS = (
    Twin(("I4",), "the model with drawn weights", learned={"experiment": "comparison"},
         rows={"experiment": "drawn", "model": Option("drawn")}),
    Twin(("I5",), "the model with drawn weights", learned={"experiment": "icl_unique"},
         rows={"experiment": "drawn_unique", "model": Option("drawn")}),
    Twin(("I14",), "the model with drawn weights", learned={"experiment": "tokens"},
         rows={"experiment": "drawn_tokens", "model": Option("drawn")}),
    Twin(("I8", "I9", "I13"), "no update: the model without fine-tuning",
         learned={"experiment": "comparison", "condition": "sft_1k"},
         rows={"condition": "icl_0", "step": None, "seed": None}),
    Twin(("I1", "I2"), "no update: step 0", learned={"experiment": "sft_dynamics"}, rows={"step": 0}),
    Twin(("I3",), why_not="without updates there are no steps over which two curves could go together"),
    Twin(("I6", "I7", "I11"), why_not="judged of the published models alone, each of which would need a drawn one"),
    Twin(("I10",), why_not="it sets two uses of one model side by side; what the update adds is I13"),
    Twin(("I12",), why_not="two estimators of one and the same states: nothing is learnt"),
)  # fmt: skip
