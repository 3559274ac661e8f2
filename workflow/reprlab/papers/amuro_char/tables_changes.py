"""Tables of what fine-tuning changes: Table 6, mean ratios of change, out-of-domain change, golds that are missing.

Scores and differences are in percent; a ratio of change is none. Intervals are over evaluation sets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reprlab.papers.amuro_char.aggregate import (
    KEYS,
    ORIGIN,
    all_other_pairs,
    changes,
    complete,
    group_means,
    mean_ratio,
)
from reprlab.papers.amuro_char.names import BASE, WAYS, last_checkpoint
from reprlab.papers.amuro_char.tables_scores import ABOUT, HEADLINE, about_rows, joined, scores, table_of
from reprlab.results.frame import Frame, Rows
from reprlab.statistics import mean_over_crossed, mean_over_units

# Level of the intervals of Figure 8.
_FIGURE_8 = 0.9
_ALL = "all"
# What the rows of neighbours are scored on: the training set's own task, or those that it may make the model forget.
OWN, OTHER = "own", "other"


def perf_diff_table(frame: Frame) -> Rows:
    """Table 6: mean difference of two groups by checkpoint; `_once` counts sciq once.

    `low_` and `high_` bound the 90 % interval over the evaluation sets of the group (Figure 8).
    """
    import pandas

    perf, named = scores(frame), frame.options["groups"]
    twice = named["learned_in_pretrain"]
    once = [pair for place, pair in enumerate(twice) if pair not in twice[:place]]
    groups: dict[str, Sequence[Any]] = {"learned_in_pretrain": twice, "learned_in_pretrain_once": once}
    groups["learned_in_finetune"] = named["learned_in_finetune"]
    found = {name: complete(changes(perf, pairs)) for name, pairs in groups.items()}
    lines = []
    means: list[dict[Any, Any]] = group_means(perf, groups).to_dict("records")
    for line in means:
        used = []
        for name, cells in found.items():
            part = _at(cells, line)
            line |= _bounds(part["difference"], part["eval"], f"low_{name}", f"high_{name}", level=_FIGURE_8)
            used.append(part)
        note = joined(_absent(_at(perf, line), groups))
        lines.append(line | about_rows(pandas.concat(used), frame.scale, note))
    counts = [f"n_{name}" for name in groups]
    bounds = [f"{end}_{name}" for name in groups for end in ("low", "high")]
    return table_of(lines, ["family", "ckpt", *groups, *counts, *bounds, *ABOUT], frame, *counts)


def _absent(perf: Rows, groups: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    known = set(zip(perf["eval"], perf["train"], strict=True))
    for name, pairs in groups.items():
        absent = dict.fromkeys(f"{eval}<-{train}" for eval, train in pairs if (eval, train) not in known)
        if absent and not name.endswith("_once"):
            yield f"{name} without {', '.join(absent)}: not run at this scale"


def mrc_table(frame: Frame) -> Rows:
    """Ratios of change (equation 1), one row each (`row` = ratio), and their summaries.

    `row` = summary: mean over the pairs of a direction and all checkpoints that have all pairs (behind the printed
    percentages), and by checkpoint; `row` = equation: equation 1 as the text has it, all evaluation sets but the
    model's own, by training set and checkpoint. `skipped` counts zero bases.
    """
    perf, lines = scores(frame), []
    for direction, pairs in frame.options["groups"]["mrc"].items():
        found = changes(perf, pairs)
        for one, row in found.iterrows():
            about = about_rows(found.loc[[one]], frame.scale)
            lines.append({"row": "ratio", "direction": direction, **row, **about})
        for family, cells in complete(found).groupby("family", sort=False):
            for ckpt in (_ALL, *dict.fromkeys(cells["ckpt"])):
                keys = {"row": "summary", "direction": direction, "family": family, "ckpt": ckpt}
                part = cells if ckpt == _ALL else cells[cells["ckpt"] == ckpt]
                lines.append({**keys, "train": _ALL, "eval": _ALL, **_summary(part, frame)})
    lines += _equation_rows(perf, frame)
    columns = ["row", "family", "direction", "ckpt", "eval", "train", "base", "tuned", "difference", "ratio"]
    columns += ["median", "low", "high", "ratios", "skipped", *ABOUT]
    return table_of(lines, columns, frame, "ratios", "skipped")


def _equation_rows(perf: Rows, frame: Frame) -> Iterator[dict[str, Any]]:
    own: dict[str, list[str]] = {}
    for eval, train in frame.options["groups"]["in_domain"]:
        own.setdefault(train, []).append(eval)
    for train, evals in own.items():
        found = changes(perf, all_other_pairs(perf, train, evals))
        for (family, ckpt), part in found.groupby(["family", "ckpt"], sort=False):
            keys = {"row": "equation", "direction": "all other sets", "family": family, "ckpt": ckpt}
            yield {**keys, "train": train, "eval": _ALL, **_summary(part, frame)}


def _summary(found: Rows, frame: Frame) -> dict[str, Any]:
    mean, interval = mean_ratio(found), ratio_over_sets(found)
    about = {"ratio": mean.mean, "median": mean.median, "low": interval.low, "high": interval.high}
    return about | {"ratios": mean.n, "skipped": mean.skipped, **_about(found, frame)}


def ratio_over_sets(found: Rows) -> Any:
    """Mean ratio of change; a pair shares its evaluation set and its training set with others."""
    known = found[found["base"] != 0]
    units = {"evaluation set": known["eval"], "training set": known["train"]}
    return mean_over_crossed(known["ratio"], units)


def ood_table(frame: Frame) -> Rows:
    """Figures 5 and 15: out-of-domain change by task, as ratio (the caption) and as difference (the released code).

    `checkpoints` = all averages over checkpoints that have all pairs, otherwise it is the last one. `eval` = all puts
    the sets of a task together.
    """
    perf, lines = scores(frame), []
    for task, pairs in frame.options["groups"]["out_of_domain"].items():
        for family, found in complete(changes(perf, pairs)).groupby("family", sort=False):
            for ckpt in (_ALL, last_checkpoint(found["ckpt"])):
                part = found if ckpt == _ALL else found[found["ckpt"] == ckpt]
                for eval in (*dict.fromkeys(part["eval"]), _ALL):
                    cells = part if eval == _ALL else part[part["eval"] == eval]
                    mean, known = mean_ratio(cells), cells.dropna(subset="ratio")
                    line = {"family": family, "task": task, "eval": eval, "train": joined(cells["train"])}
                    line |= {"checkpoints": ckpt, "difference": cells["difference"].mean(), "ratio": mean.mean}
                    line |= {"ratio_median": mean.median, "changes": len(cells), "skipped": mean.skipped}
                    line |= _bounds(cells["difference"], cells["eval"], "low", "high")
                    line |= _bounds(known["ratio"], known["eval"], "ratio_low", "ratio_high")
                    lines.append(line | _about(cells, frame))
    columns = ["family", "task", "eval", "train", "checkpoints", "difference", "low", "high", "ratio", "ratio_low"]
    columns += ["ratio_high", "ratio_median", "changes", "skipped", *ABOUT]
    return table_of(lines, columns, frame, "changes", "skipped")


def unlabelled_table(frame: Frame) -> Rows:
    """Effect of the original's missing golds: the same predictions scored with the labels and with "no" as every gold.

    `as_no` is the share of predictions "no": what accuracy becomes when labels of -1 are read as "no". The changes are
    those from the un-tuned checkpoint. `labelled` is empty where the run itself read the golds as "no".
    """
    import pandas

    perf, sets = scores(frame), frame.options["unlabelled"]
    pairs = [pair for listed in frame.options["groups"]["out_of_domain"].values() for pair in listed if pair[0] in sets]
    perf = perf[perf["eval"].isin(sets) & perf["train"].isin([BASE, *(train for _, train in pairs)])]
    labelled = perf["performance"] * (float("nan") if frame.options["golds_read_as_no"] else 1.0)
    perf = perf.assign(labelled=labelled, as_no=[_share_of_no(histogram) for histogram in perf["histogram"]])
    for name in ("labelled", "as_no"):
        found = changes(perf.assign(performance=perf[name]), pairs)[[*KEYS, "difference"]]
        perf = perf.merge(found.rename(columns={"difference": f"change_{name}"}), on=KEYS, how="left")
    about = [about_rows(perf.loc[[place]], frame.scale, note) for place, note in perf["note"].items()]
    columns = ["family", "ckpt", "train", "eval", "labelled", "as_no", "majority", "change_labelled", "change_as_no"]
    joined_rows = pandas.concat([perf[columns], pandas.DataFrame(about, index=perf.index)], axis=1)
    return table_of(joined_rows, [*columns, *ABOUT], frame)


def pairs_of_task(groups: Mapping[str, Any], task: str) -> list[Any]:
    """The pairs that a model is fine-tuned for, or those of section 4.3, whose set is of a task of another kind."""
    if task == OWN:
        return [*groups["in_domain"], *groups["instruction"]]
    return [pair for pairs in groups["mrc"].values() for pair in pairs]


def beside_fine_tuning(frame: Frame, way: str, task: str) -> Rows:
    """`changes` of fine-tuned checkpoints, and those of a neighbour's models of the same checkpoints, by pair.

    `moved`, `change_moved` and `ratio_moved` are of the neighbour; `lead` is its score less that of fine-tuning.
    """
    import pandas

    pairs, columns = pairs_of_task(frame.options["groups"], task), [*KEYS, *ORIGIN, "performance"]
    tuned, moved = (scores(frame.narrowed({**HEADLINE, "way": one}))[columns] for one in ("", way))
    theirs = changes(pandas.concat([tuned[tuned["train"] == BASE], moved]), pairs)
    names = {"tuned": "moved", "difference": "change_moved", "ratio": "ratio_moved"}
    both = changes(tuned, pairs).merge(theirs.rename(columns=names)[[*KEYS, *names.values()]], on=KEYS)
    return both.assign(task=task, way=way, lead=both["moved"] - both["tuned"])


def readapted_table(frame: Frame) -> Rows:
    """RE-Adapt beside fine-tuning: scores of both by pair, and how each changes what the checkpoint scored before."""
    import pandas

    found = pandas.concat([beside_fine_tuning(frame, way, task) for task in (OWN, OTHER) for way in WAYS])
    columns = ["family", "ckpt", "task", "way", "eval", "train", "base", "tuned", "moved", "lead", "difference"]
    columns += ["change_moved", "ratio", "ratio_moved", *ABOUT]
    return table_of(found.assign(scale=frame.scale, note=""), columns, frame)


def _share_of_no(histogram: str) -> float:
    counts = json.loads(histogram or "{}")
    return 100 * counts.get("no", 0) / sum(counts.values()) if counts else float("nan")


def _about(found: Rows, frame: Frame) -> dict[str, Any]:
    skipped = int((found["base"] == 0).sum())
    note = f"{skipped} ratios skipped: the base is zero" if skipped else ""
    return about_rows(found, frame.scale, note)


def _at(frame: Rows, line: Mapping[Any, Any]) -> Rows:
    return frame[(frame["family"] == line["family"]) & (frame["ckpt"] == line["ckpt"])]


def _bounds(values: Rows, evals: Rows, low: str, high: str, level: float = 0.95) -> dict[Any, float]:
    """The interval over evaluation sets of the plain mean of values; a set that is there twice weighs twice."""
    by_set = values.groupby(evals)
    sums, counts = by_set.sum(), by_set.size()
    units = values.mean() + (sums - values.mean() * counts) / counts.mean()
    found = mean_over_units(units, "evaluation set", level=level)
    return {low: found.low, high: found.high}
