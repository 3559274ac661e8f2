"""Tables behind the curves along pre-training: by format, before fine-tuning, before and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprlab.papers.amuro_char.layouts import AggregateLayout
from reprlab.papers.amuro_char.names import BASE, SIDE_METHODS
from reprlab.papers.amuro_char.tables_common import headline_scores, in_pairs, read_perf, whole_numbers

if TYPE_CHECKING:
    import pandas

_CURVE = ["family", "ckpt", "step", "train", "eval", "kind", "fmt", "shots", "metric", "performance", "low", "high"]
_CURVE += ["majority", "learned", "scale", "seed", "n", "train_steps", "tokens", "data", "note"]


def format_table(layout: AggregateLayout) -> pandas.DataFrame:
    """Figures 2, 3 and 14: every format on the sets of each training task, fine-tuned for it and not."""
    perf = read_perf(layout.perf)
    perf = perf[(perf["shots"] == layout.shots) & ~perf["method"].isin(SIDE_METHODS)]
    several = perf.groupby("eval")["fmt"].nunique()
    perf = perf[perf["eval"].isin(several[several > 1].index)]
    known = [*layout.groups.in_domain, *(pair for pairs in layout.groups.out_of_domain.values() for pair in pairs)]
    return _curves(perf[in_pairs(perf, known) | (perf["train"] == BASE)])


def fewshot_table(layout: AggregateLayout) -> pandas.DataFrame:
    """Figure 6: models before fine-tuning, with every number of demonstrations that was run.

    `group` is the panel; `headline` marks the number of demonstrations that all other tables take.
    """
    perf = read_perf(layout.perf)
    perf = perf[(perf["train"] == BASE) & (perf["fmt"] == layout.fmt) & ~perf["method"].isin(SIDE_METHODS)]
    groups = dict.fromkeys(layout.groups.improving, "improving") | dict.fromkeys(layout.groups.flat, "flat")
    frame = perf[perf["eval"].isin(groups)]
    curves = _curves(frame)
    curves.insert(0, "group", [groups[eval] for eval in frame["eval"]])
    curves.insert(1, "headline", [shots == layout.shots for shots in frame["shots"]])
    return curves


def curves_table(layout: AggregateLayout) -> pandas.DataFrame:
    """Figures 7 and 9 to 13: for each `figure` and pair, the fine-tuned model, and in rows of its own the un-tuned one.

    `pair` is the training set of the panel, in the un-tuned rows too.
    """
    import pandas

    perf, groups = headline_scores(layout), layout.groups
    figures = {
        "fig7": groups.examples,
        "fig9": groups.instruction,
        "fig10": groups.in_domain,
        "fig11": [pair for pairs in groups.out_of_domain.values() for pair in pairs],
        "fig12": groups.cross_from_class,
        "fig13": groups.cross_from_generation,
    }
    parts = []
    for figure, pairs in figures.items():
        for pair in pairs:
            rows = perf[(perf["eval"] == pair.eval) & perf["train"].isin([BASE, pair.train])]
            if (rows["train"] == pair.train).any():
                part = _curves(rows)
                part.insert(0, "pair", pair.train)
                part.insert(0, "figure", figure)
                parts.append(part)
    if not parts:
        return pandas.DataFrame(columns=["figure", "pair", *_CURVE]).rename(columns={"train_steps": "steps"})
    return pandas.concat(parts, ignore_index=True)


def _curves(frame: pandas.DataFrame) -> pandas.DataFrame:
    renamed = frame[_CURVE].rename(columns={"train_steps": "steps"})
    return whole_numbers(renamed, "step", "shots", "seed").reset_index(drop=True)
