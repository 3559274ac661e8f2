"""Statistics that the claims measure, of one model, over evaluation sets, examples or held-out batches.

Checkpoints of one ladder are not units of their own: they are averaged within evaluation sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reprlab.papers.amuro_char.aggregate import changes, complete
from reprlab.papers.amuro_char.names import BASE, PREDICTION_METHODS, Pair, first_checkpoint, last_checkpoint
from reprlab.papers.amuro_char.tables_changes import beside_fine_tuning, ratio_over_sets, unlabelled_table
from reprlab.papers.amuro_char.tables_scores import HEADLINE, SCORES, in_pairs, prediction_table, scores
from reprlab.results.contrasts import Ratio, scores_of
from reprlab.results.frame import FIRST, LAST, Frame, Rows
from reprlab.statistics import (
    Estimate,
    contrast,
    difference_of_groups,
    difference_over_pairs,
    largest_of,
    mean_over_crossed,
    mean_over_units,
)

_SET, _LOSS = "evaluation set", ("loss_sum", "count")


@dataclass(frozen=True)
class Model:
    """The scores of one model."""

    frame: Frame
    family: str

    @property
    def groups(self) -> Any:
        """The pairs of evaluation and training set of the paper's groups."""
        return self.frame.options["groups"]

    @cached_property
    def perf(self) -> Rows:
        """The scores that aggregates take."""
        return scores(self.frame.narrowed(HEADLINE))


def model_of(frame: Frame, place: int) -> Model | None:
    """The first model is the first with a ladder of checkpoints; the others follow in their order."""
    counts = frame.select(metric=SCORES).groupby("family", sort=False)["ckpt"].nunique()
    ladders = [name for name, count in counts.items() if count > 1]
    names = list(dict.fromkeys([*ladders[:1], *counts.index]))
    if place >= len(names):
        return None
    return Model(frame.narrowed({"family": names[place]}), names[place])


def largest_gain(model: Model) -> Estimate | str:
    """Largest gain on a classification set at the last checkpoint; the interval allows for the choice of it."""
    last = last_checkpoint(model.perf["ckpt"])
    rows = model.perf[(model.perf["ckpt"] == last) & (model.perf["kind"] == "classification")]
    names = [Pair(*pair) for pair in rows[["eval", "train"]].to_numpy()]
    columns = (_scores(rows), rows["above_trivial"], rows["majority"])
    cells, flags, majority = (dict(zip(names, one, strict=True)) for one in columns)
    pairs = [Pair(*pair) for pair in model.groups["in_domain"]]
    pairs = [pair for pair in pairs if pair in cells and Pair(pair.eval, BASE) in cells]
    if not pairs:
        return ""
    # A constant answer is no help, also where the untuned model answers with no label at all.
    gains = [
        cells[pair].less(majority[pair])
        if majority[pair] > cells[Pair(pair.eval, BASE)].value
        else contrast([cells[pair], cells[Pair(pair.eval, BASE)]], (1, -1))
        for pair in pairs
    ]
    place, best = largest_of(gains)
    told = ", ".join(
        f"{pair.eval} {gain.value:+.1f} ({flags[pair]} the trivial)" for pair, gain in zip(pairs, gains, strict=True)
    )
    return best.told(f"one seed; {pairs[place].eval} at checkpoint {last}; all: {told}")


def _scores(rows: Rows) -> list[Estimate]:
    return scores_of(rows.assign(value=rows["performance"]))


def without_demonstrations(model: Model) -> Estimate | str:
    """Largest lead of a fine-tuned model that gets no shots over the most frequent class, on a classification set of
    its task at the last checkpoint; the interval allows for the choice of it."""
    rows = scores(model.frame.narrowed({**HEADLINE, "shots": 0, "kind": "classification"}))
    last = last_checkpoint(model.perf["ckpt"])
    rows = rows[in_pairs(rows, model.groups["in_domain"]) & (rows["ckpt"] == last)]
    if rows.empty:
        return ""
    _, best = largest_of([score.less(level) for score, level in zip(_scores(rows), rows["majority"], strict=True)])
    told = ", ".join(
        f"{row['eval']} {row['performance']:.1f} against {row['majority']:.1f} ({row['above_trivial']} the trivial)"
        for row in rows.to_dict("records")
    )
    return best.told(f"one seed; checkpoint {last}: {told}")


def distance_from_majority(model: Model) -> Estimate:
    """Un-tuned accuracy minus that of the most frequent class, over classification sets."""
    rows = model.perf[(model.perf["train"] == BASE) & (model.perf["kind"] == "classification")]
    found = mean_over_units(rows["performance"] - rows["majority"], _SET, groups=rows["eval"])
    return found.told(f"mean share of the most frequent answer {rows['top_share'].mean():.0f} %")


def transfer(direction: str, model: Model) -> Estimate | str:
    """Mean ratio of change over the pairs of a direction and the checkpoints that have all of them."""
    found = complete(changes(model.perf, model.groups["mrc"].get(direction, [])))
    ratios, skipped = found["ratio"].dropna(), int((found["base"] == 0).sum())
    if ratios.empty:
        zero = f"{skipped} of {len(found)} scores before fine-tuning are zero: no ratios"
        return f"scale {model.frame.scale}: {zero}" if len(found) else ""
    return ratio_over_sets(found).told(f"median {ratios.median():.3f}; {skipped} zero bases skipped")


def _formats(model: Model, first: str, second: str) -> Rows:
    """Scores of fine-tuned models on their own tasks in two formats, by set and checkpoint."""
    rows = scores(model.frame.narrowed({**HEADLINE, "fmt": (first, second)}))
    rows = rows[in_pairs(rows, model.groups["in_domain"])]
    wide = rows.pivot_table(index=["eval", "train", "ckpt"], columns="fmt", values="performance")
    return wide.reindex(columns=[first, second]).dropna()


def default_against_io(model: Model) -> Estimate:
    """Default minus io."""
    wide = _formats(model, "default", "io")
    return difference_over_pairs(wide["default"], wide["io"], _SET, groups=wide.index.get_level_values("eval"))


def fall_of_sensitivity(model: Model) -> Estimate | str:
    """|default - instruct| at the first checkpoint with all sets minus that at the last."""
    wide = _formats(model, "default", "instruct")
    gaps = (wide["default"] - wide["instruct"]).abs().unstack("ckpt")
    known = gaps.notna().sum()
    return _between(-gaps.loc[:, known == known.max()])


def _between(wide: Rows, start: str = "") -> Estimate | str:
    """The column of the last checkpoint minus that of `start`, or of the first one, over sets."""
    first, last = start or first_checkpoint(wide), last_checkpoint(wide)
    if first == last or first not in wide:
        return ""
    evals = wide.index.get_level_values("eval")
    found = difference_over_pairs(wide[last], wide[first], _SET, groups=evals)
    return found.told(f"checkpoints {first} and {last}")


def between_checkpoints(column: str, group: str, model: Model, start: str = "") -> Estimate | str:
    """`column` of the changes (tuned or difference) at the last checkpoint minus that at `start`, or at the first.

    Where no fine-tuned score of the last one is above what needs no model, a growth below that says nothing.
    """
    last = model.perf[model.perf["ckpt"] == last_checkpoint(model.perf["ckpt"])]
    if not in_pairs(last[last["above_trivial"] == "above"], model.groups[group]).any():
        return "no fine-tuned score of the last checkpoint is above what needs no model"
    changed = complete(changes(model.perf, model.groups[group]))
    return _between(changed.pivot_table(index=["eval", "train"], columns="ckpt", values=column), start)


def untuned_between(model: Model, start: str = "") -> Estimate | str:
    """Un-tuned score on the sets of Figure 6a at the last checkpoint minus that at another."""
    rows = model.perf[(model.perf["train"] == BASE) & model.perf["eval"].isin(model.groups["improving"])]
    return _between(rows.pivot_table(index="eval", columns="ckpt", values="performance"), start)


def spread_of_methods(model: Model) -> Estimate | str:
    """Range over prediction methods, un-tuned minus fine-tuned, over the rows of Table 3."""
    table = prediction_table(model.frame.narrowed({**HEADLINE, "method": PREDICTION_METHODS}))
    values = table.set_index(["dataset", "model"])[list(PREDICTION_METHODS)].astype(float).dropna()
    wide = (values.max(axis=1) - values.min(axis=1)).unstack().reindex(columns=["BASE", "Fine-tuned"])
    return difference_over_pairs(wide["BASE"], wide["Fine-tuned"], _SET)


def out_of_domain(task: str, model: Model) -> Estimate | str:
    """Mean difference of fine-tuning out of domain."""
    if task == "paraphrase" and model.frame.options["golds_read_as_no"]:
        return "this run read every right answer as no"
    found = complete(changes(model.perf, model.groups["out_of_domain"].get(task, [])))
    estimate = mean_over_units(found["difference"], _SET, groups=found["eval"])
    return estimate.told(f"sets: {', '.join(dict.fromkeys(found['eval']))}")


def effect_of_missing_golds(model: Model) -> Estimate:
    """Change of fine-tuning with all golds read as "no" minus the change with the labels."""
    table = unlabelled_table(model.frame.narrowed(HEADLINE))
    table = table[table["train"] != BASE]
    known, as_no = table["change_labelled"].astype(float), table["change_as_no"].astype(float)
    told = f"mean change {known.mean():+.1f} with labels, {as_no.mean():+.1f} with golds as 'no'"
    return difference_over_pairs(as_no, known, _SET, groups=table["eval"]).told(told)


def beside_tuned(way: str, task: str, model: Model) -> Estimate | str:
    """Score of a neighbour's model of the last checkpoint minus that of the fine-tuned one, over pairs of a task."""
    found = beside_fine_tuning(model.frame, way, task)
    if found.empty:
        return f"scale {model.frame.scale}: {model.frame.reason(way=way)}"
    units = {_SET: found["eval"], "training set": found["train"]}
    told = f"against no fine-tuning {found['change_moved'].mean():+.1f}, fine-tuned {found['difference'].mean():+.1f}"
    return mean_over_crossed(found["lead"], units).told(told)


def gap_of_groups(model: Model) -> Estimate:
    """Gain on the sets learned in fine-tuning minus that on those learned in pre-training; one gain a set."""
    late, early = (
        complete(changes(model.perf, model.groups[group])).groupby("eval")["difference"].mean()
        for group in ("learned_in_finetune", "learned_in_pretrain")
    )
    return difference_of_groups(late, early, _SET)


def fall_of_loss(model: Model) -> Estimate | str:
    """Held-out loss of the last checkpoint minus that of the first, nats a token; paired by batch."""
    found = Ratio(_LOSS, {"step": LAST}, {"step": FIRST}, units="batch")(model.frame)
    if isinstance(found, str):
        return found
    told = []
    for edge in (FIRST, LAST):
        rows = model.frame.select(metric=_LOSS, step=edge)
        sums = rows.groupby("metric")["value"].sum()
        told.append(f"{sums['loss_sum'] / sums['count']:.3f} at step {rows['step'].iloc[0]}")
    return found.told(", ".join(told))
