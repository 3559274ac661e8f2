"""Checks 5.1, 5.2 and 5.5: Table 6 and the mean ratios of change from the released values, by the aggregator that our
own scores go through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from reprlab.papers.amuro_char.aggregate import (
    all_other_pairs,
    changes,
    group_means,
    mean_ratio,
    released_frame,
)
from reprlab.papers.amuro_char.names import BASE, CLASS_TO_GEN, GEN_TO_CLASS, Pair, mrc_pairs, table6_pairs
from reprlab.reporting.audit import AuditRow, judge, not_checkable, rounded

if TYPE_CHECKING:
    from reprlab.config.papers.amuro_char import AmuroCharSettings

Frame = Any
Tables = dict[str, Frame]

# Means over the released values in full precision (specification, check 5.2).
_FULL_PRECISION = {CLASS_TO_GEN: -0.61459, GEN_TO_CLASS: 0.003052}
_TOLERANCE = 5e-4
_DIGITS = 9


def change_checks(tables: Tables, settings: AmuroCharSettings) -> Iterator[AuditRow]:
    """Checks 5.1, 5.2 and 5.5, over the pairs of the published settings."""
    released = released_frame(tables["released_performance"])
    pairs, groups = mrc_pairs(settings.groups), table6_pairs(settings.groups)
    groups["once"] = list(dict.fromkeys(groups["learned_in_pretrain"]))
    yield from _table6(tables["table6_perf_diff"], group_means(released, groups).set_index("ckpt"))
    yield from _ratios(tables["statements"], {name: changes(released, listed) for name, listed in pairs.items()})
    yield from _identities(released, [pair for listed in pairs.values() for pair in listed])


def _table6(printed: Frame, means: Frame) -> Iterator[AuditRow]:
    for letter, row in zip(ascii_lowercase, printed.itertuples(index=False), strict=False):
        wanted = (row.learned_in_pretrain, row.learned_in_finetune)
        found = [_three(means.loc[row.ckpt, name]) for name in ("learned_in_pretrain", "learned_in_finetune")]
        same = all(Decimal(one) == other for one, other in zip(wanted, found, strict=True))
        yield judge(
            f"5.1{letter}",
            f"Table 6, checkpoint {row.ckpt}: learned in pre-training, in fine-tuning",
            " ".join(wanted),
            " ".join(map(str, found)),
            same,
            "released values, SciQ counted twice as in the released notebook",
        )
    once = [_three(means.loc[ckpt, "once"]) for ckpt in printed["ckpt"]]
    equal = sum(Decimal(one) == other for one, other in zip(printed["learned_in_pretrain"], once, strict=True))
    yield judge(
        "5.1i",
        "Table 6, learned in pre-training, each set counted once",
        " ".join(printed["learned_in_pretrain"]),
        " ".join(map(str, once)),
        equal == len(once),
        f"the released list names SciQ twice; {equal} of {len(once)} cells stay",
    )


def _three(value: float) -> Decimal:
    # Means of values with four decimals: digits beyond the ninth are floating-point noise.
    return rounded(round(float(value), _DIGITS), 3)


def _ratios(statements: Frame, found: dict[str, Frame]) -> Iterator[AuditRow]:
    said = statements.set_index(["quantity", "family"])["value"]
    letters = iter(ascii_lowercase)
    for direction, quantity in ((CLASS_TO_GEN, "mrc_class_to_gen"), (GEN_TO_CLASS, "mrc_gen_to_class")):
        mean = mean_ratio(found[direction])
        known = _FULL_PRECISION[direction]
        yield judge(
            f"5.2{next(letters)}",
            f"MRC {direction}, known answer from the released values in full precision",
            known,
            round(mean.mean, 5),
            abs(mean.mean - known) <= _TOLERANCE,
            f"{mean.n} ratios of values rounded to four places, {mean.skipped} zero bases; tolerance {_TOLERANCE}",
        )
        printed = said.loc[(quantity, "olmo1b")]
        exact = rounded(100 * known, 1)
        note = "the printed number is cut, not rounded" if direction == CLASS_TO_GEN else "rounded"
        yield judge(
            f"5.2{next(letters)}",
            f"Section 4.3: MRC {direction} (%)",
            printed,
            exact,
            Decimal(printed) == exact,
            f"{100 * known:.3f}; {note}",
        )
    yield _outlier(said.loc[("mrc_class_to_gen", "olmo1b")], found[CLASS_TO_GEN], next(letters))
    yield not_checkable(
        f"5.2{next(letters)}",
        "Section 4.3: MRC by equation 1, all evaluation sets but the training set",
        said.loc[("mrc_class_to_gen", "olmo1b")],
        "missing: the released scores of the other sets; the printed number averages two sets for each training set",
    )
    for quantity in ("mrc_class_to_gen", "mrc_gen_to_class"):
        printed = said.loc[(quantity, "llama3_8b")]
        what = f"Appendix G: {quantity.replace('_', ' ')} of Llama3-8B (%)"
        yield not_checkable(f"5.2{next(letters)}", what, printed, "missing: no score of Llama3-8B was released")


def _outlier(printed: str, found: Frame, letter: str) -> AuditRow:
    largest = found.loc[found["ratio"].idxmax()]
    without = mean_ratio(found.drop(index=largest.name))
    name = f"{largest['eval']} after {largest['train']}, checkpoint {largest['ckpt']}"
    return judge(
        f"5.2{letter}",
        f"Section 4.3: MRC class->gen without one of {len(found)} ratios ({name})",
        printed,
        f"{100 * without.mean:.1f}",
        Decimal(printed) == rounded(100 * without.mean, 1),
        f"its ratio is {largest['ratio']:+.2f} because its base is {largest['base']:g}; the median of all is "
        f"{100 * mean_ratio(found).median:.1f}",
    )


def _identities(released: Frame, pairs: list[Pair]) -> Iterator[AuditRow]:
    base = released[released["train"] == BASE]
    trains = sorted({pair.train for pair in pairs})
    copies = [base, *(base.assign(train=train) for train in trains)]
    scaled = released.assign(performance=released["performance"] * 0.25)
    ratios = changes(released, pairs)["ratio"]
    own: dict[str, Sequence[str]] = {"mnli": ("mnli_matched", "mnli_mismatched"), "paws": ("paws",)}
    listed = [pair for train, evals in own.items() for pair in all_other_pairs(released, train, evals)]
    held = {
        "MRC(base, base) = 0": mean_ratio(changes(_stacked(copies), pairs)).mean == 0,
        "scaling all scores leaves it": abs(
            mean_ratio(changes(scaled, pairs)).mean - mean_ratio(changes(released, pairs)).mean
        )
        < 1e-12,
        "no ratio below -1": bool((ratios >= -1).all()),
        "a model's own sets are left out": not [pair for pair in listed if pair.eval in own[pair.train]],
    }
    broken = [name for name, holds in held.items() if not holds]
    what = "Properties of the mean ratio of change, on the released values"
    yield judge(
        "5.5", what, f"{len(held)} hold", f"{len(held) - len(broken)} hold", not broken, "; ".join(broken or held)
    )


def _stacked(parts: list[Frame]) -> Frame:
    import pandas

    return pandas.concat(parts, ignore_index=True)
