"""Tables of what fine-tuning changes: Table 6, mean ratios of change, out-of-domain change, golds that are missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from reprlab.evaluation.bootstrap import mean_interval
from reprlab.papers.amuro_char.aggregate import all_other_pairs, changes, complete, group_means, mean_ratio
from reprlab.papers.amuro_char.layouts import AggregateLayout
from reprlab.papers.amuro_char.names import BASE, Pair
from reprlab.papers.amuro_char.tables_common import (
    ABOUT,
    about_rows,
    headline_scores,
    joined,
    last_checkpoint,
    whole_numbers,
)

if TYPE_CHECKING:
    import pandas

# Level of the intervals of Figure 8.
_FIGURE_8 = 0.9
_ALL = "all"


def perf_diff_table(layout: AggregateLayout) -> pandas.DataFrame:
    """Table 6: mean difference of two groups by checkpoint; `_once` counts sciq once.

    `low_` and `high_` bound the 90 % bootstrap interval over the pairs of the group (Figure 8).
    """
    import pandas

    perf = headline_scores(layout)
    groups = _table6_groups(layout)
    means = group_means(perf, groups)
    rows = []
    for row in means.to_dict("records"):
        used = []
        for name, pairs in groups.items():
            found = _at(complete(changes(perf, pairs)), row["family"], row["ckpt"])
            row |= dict(
                zip((f"low_{name}", f"high_{name}"), _interval(found["difference"], layout, _FIGURE_8), strict=True)
            )
            used.append(_sources(perf, found))
        note = joined(_missing(_at(perf, row["family"], row["ckpt"]), groups))
        rows.append(row | about_rows(pandas.concat(used).drop_duplicates(), layout.scale, note))
    columns = ["family", "ckpt", *groups, *(f"n_{name}" for name in groups)]
    columns += [f"{end}_{name}" for name in groups for end in ("low", "high")]
    counts = [f"n_{name}" for name in groups]
    return whole_numbers(pandas.DataFrame(rows).reindex(columns=[*columns, *ABOUT]), *counts)


def _table6_groups(layout: AggregateLayout) -> dict[str, Sequence[Pair]]:
    twice = layout.groups.learned_in_pretrain
    return {
        "learned_in_pretrain": twice,
        "learned_in_pretrain_once": list(dict.fromkeys(twice)),
        "learned_in_finetune": layout.groups.learned_in_finetune,
    }


def _missing(perf: pandas.DataFrame, groups: dict[str, Sequence[Pair]]) -> Iterator[str]:
    known = set(zip(perf["eval"], perf["train"], strict=True))
    for name, pairs in groups.items():
        absent = [f"{pair.eval}<-{pair.train}" for pair in dict.fromkeys(pairs) if tuple(pair) not in known]
        if absent and not name.endswith("_once"):
            yield f"{name} without {', '.join(absent)}: not run at this scale"


def mrc_table(layout: AggregateLayout) -> pandas.DataFrame:
    """Ratios of change (equation 1), one row each (`row` = ratio), and their summaries.

    `row` = summary: mean over the pairs of a direction and all checkpoints that have all pairs (behind the printed
    percentages), and by checkpoint; `row` = equation: equation 1 as the text has it, all evaluation sets but the
    model's own, by training set and checkpoint. `skipped` counts zero bases, `low` and `high` bound the bootstrap over
    the ratios.
    """
    import pandas

    perf = headline_scores(layout)
    rows: list[dict[str, Any]] = []
    for direction, pairs in layout.groups.mrc.items():
        found = changes(perf, pairs)
        records: list[Any] = found.to_dict("records")
        for one in records:
            source = _sources(perf, pandas.DataFrame([one]))
            rows.append({"row": "ratio", "direction": direction, **one, **about_rows(source, layout.scale)})
        for family in dict.fromkeys(found["family"]):
            of_family = complete(found[found["family"] == family])
            for ckpt in (_ALL, *dict.fromkeys(of_family["ckpt"])):
                part = of_family if ckpt == _ALL else of_family[of_family["ckpt"] == ckpt]
                keys = {"row": "summary", "direction": direction, "family": family, "ckpt": ckpt, "train": _ALL}
                rows.append(keys | {"eval": _ALL} | _summary(perf, part, layout))
    rows += _equation_rows(perf, layout)
    columns = ["row", "family", "direction", "ckpt", "eval", "train", "base", "tuned", "difference", "ratio"]
    columns += ["median", "low", "high", "ratios", "skipped", *ABOUT]
    return whole_numbers(pandas.DataFrame(rows).reindex(columns=columns), "ratios", "skipped")


def _equation_rows(perf: pandas.DataFrame, layout: AggregateLayout) -> Iterator[dict[str, Any]]:
    own: dict[str, list[str]] = {}
    for pair in layout.groups.in_domain:
        own.setdefault(pair.train, []).append(pair.eval)
    for train, trained_on in own.items():
        found = changes(perf, all_other_pairs(perf, train, trained_on))
        for family, ckpt in dict.fromkeys(zip(found["family"], found["ckpt"], strict=True)):
            keys = {"row": "equation", "direction": "all other sets", "family": family, "ckpt": ckpt, "train": train}
            yield keys | {"eval": _ALL} | _summary(perf, _at(found, family, ckpt), layout)


def _summary(perf: pandas.DataFrame, found: pandas.DataFrame, layout: AggregateLayout) -> dict[str, Any]:
    mean = mean_ratio(found)
    low, high = _interval(found["ratio"].dropna(), layout, layout.statistics.confidence)
    note = f"{mean.skipped} ratios skipped: the base is zero" if mean.skipped else ""
    return {
        "ratio": mean.mean,
        "median": mean.median,
        "low": low,
        "high": high,
        "ratios": mean.n,
        "skipped": mean.skipped,
        **about_rows(_sources(perf, found), layout.scale, note),
    }


def ood_table(layout: AggregateLayout) -> pandas.DataFrame:
    """Figures 5 and 15: out-of-domain change by task, as ratio (the caption) and as difference (the released code).

    `checkpoints` = all averages over checkpoints that have all pairs, otherwise it is the last one. `eval` = all puts
    the sets of a task together. Intervals are those of the bootstrap over (set, checkpoint).
    """
    import pandas

    perf = headline_scores(layout)
    rows = []
    for task, pairs in layout.groups.out_of_domain.items():
        found = changes(perf, pairs)
        for family in dict.fromkeys(found["family"]):
            of_family = complete(found[found["family"] == family])
            for ckpt in (_ALL, last_checkpoint(of_family)):
                part = of_family if ckpt == _ALL else of_family[of_family["ckpt"] == ckpt]
                for eval in (*dict.fromkeys(part["eval"]), _ALL):
                    cells = part if eval == _ALL else part[part["eval"] == eval]
                    keys = {"family": family, "task": task, "eval": eval, "checkpoints": ckpt}
                    rows.append(keys | {"train": joined(cells["train"])} | _change(perf, cells, layout))
    columns = ["family", "task", "eval", "train", "checkpoints", "difference", "low", "high", "ratio", "ratio_low"]
    columns += ["ratio_high", "ratio_median", "changes", "skipped", *ABOUT]
    return whole_numbers(pandas.DataFrame(rows).reindex(columns=columns), "changes", "skipped")


def _change(perf: pandas.DataFrame, cells: pandas.DataFrame, layout: AggregateLayout) -> dict[str, Any]:
    level = layout.statistics.confidence
    mean = mean_ratio(cells)
    low, high = _interval(cells["difference"], layout, level)
    ratio_low, ratio_high = _interval(cells["ratio"].dropna(), layout, level)
    note = f"{mean.skipped} ratios skipped: the base is zero" if mean.skipped else ""
    return {
        "difference": cells["difference"].mean(),
        "low": low,
        "high": high,
        "ratio": mean.mean,
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "ratio_median": mean.median,
        "changes": len(cells),
        "skipped": mean.skipped,
        **about_rows(_sources(perf, cells), layout.scale, note),
    }


def unlabelled_table(layout: AggregateLayout) -> pandas.DataFrame:
    """What the original's missing golds do: the same predictions scored with the labels and with "no" as every gold.

    `as_no` is the share of predictions "no": what accuracy becomes when labels of -1 are read as "no". The changes are
    those from the un-tuned checkpoint. `labelled` is empty where the run itself read the golds as "no".
    """
    import pandas

    perf = headline_scores(layout)
    pairs = [pair for pairs in layout.groups.out_of_domain.values() for pair in pairs if pair.eval in layout.paraphrase]
    perf = perf[perf["eval"].isin(layout.paraphrase) & perf["train"].isin({BASE, *(pair.train for pair in pairs)})]
    labelled = perf["performance"] * (float("nan") if layout.golds_read_as_no else 1.0)
    perf = perf.assign(labelled=labelled, as_no=[_share_of_no(value) for value in perf["histogram"]])
    gains = {
        column: changes(perf.assign(performance=perf[column]), pairs).set_index(["family", "ckpt", "eval", "train"])
        for column in ("labelled", "as_no")
    }
    rows = []
    for row in perf.to_dict("records"):
        key = tuple(row[name] for name in ("family", "ckpt", "eval", "train"))
        found = {f"change_{name}": frame["difference"].get(key) for name, frame in gains.items()}
        about = about_rows(pandas.DataFrame([row]), layout.scale, row["note"])
        kept = ("family", "ckpt", "train", "eval", "labelled", "as_no", "majority")
        rows.append({name: row[name] for name in kept} | found | about)
    columns = ["family", "ckpt", "train", "eval", "labelled", "as_no", "majority", "change_labelled", "change_as_no"]
    return whole_numbers(pandas.DataFrame(rows, columns=[*columns, *ABOUT]))


def _share_of_no(histogram: Any) -> float:
    counts = json.loads(histogram) if isinstance(histogram, str) and histogram else {}
    return counts.get("no", 0) / sum(counts.values()) if counts else float("nan")


def _sources(perf: pandas.DataFrame, found: pandas.DataFrame) -> pandas.DataFrame:
    """The fine-tuned rows of perf.tsv behind rows of `changes`."""
    keys = found[["family", "ckpt", "eval", "train"]].drop_duplicates()
    return keys.merge(perf, on=["family", "ckpt", "eval", "train"])


def _at(frame: pandas.DataFrame, family: str, ckpt: str) -> pandas.DataFrame:
    return frame[(frame["family"] == family) & (frame["ckpt"] == ckpt)]


def _interval(values: pandas.Series, layout: AggregateLayout, level: float) -> tuple[float, float]:
    """Percentile interval of the mean; NaN below two values."""
    if len(values) < 2:
        return float("nan"), float("nan")
    statistics = layout.statistics
    return mean_interval(values.tolist(), resamples=statistics.resamples, level=level, seed=statistics.seed)[1:]
