"""Claims that chance decides: those whose rule gives one verdict whatever the values of its rows are, and those that
what learnt nothing supports as well.

Run it on a results folder to list them, and why; it ends with 1 where there is one (`docs/statistics.md`).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.reporting.claims import NOT_TESTABLE
from reprlab.results.claims import Claim
from reprlab.results.frame import Frame, Rows, read_frame
from reprlab.results.twins import Twin, as_twin, learnt_rows, twin_of, twin_rows
from reprlab.runtime.errors import told_in_one_line
from reprlab.statistics import INCONCLUSIVE, NOT_SUPPORTED, SUPPORTED

if TYPE_CHECKING:
    import numpy as np

DRAWS = 600
"""Sets of any values for each claim; few are made where both verdicts come up. A rank correlation of few points lies
wholly on one side in one or two of a hundred."""
SHUFFLES, TWINS = 40, 10
_MOST_SHUFFLED, _MOST_OF_TWIN = 0.7, 0.2
"""Shuffled values put either side of a plain difference ahead by far, so that they support half of such claims: 0.7 is
beyond what 40 of them do in one of two hundred. The twin is the null itself."""
# Deviation of the logarithms of conditions, and its share where they are nearly equal.
_APART, _NEARLY = 0.7, 1e-4
# Factors that count what could be drawn anew, or name items: values under them differ by chance alone.
_UNITS = {"seed", "fold", "pretraining_seed", "tuning_seed", "batch", "feature", "place", "context"}
_SCORE = ["value", "low", "high"]
# Units whose metrics are parts of each other.
_ALIKE = ("percent", "seconds")


@dataclass(frozen=True)
class Constant:
    """A claim, and how its verdict stays the same."""

    claim: str
    why: str


def decided_by_chance(
    claims: Sequence[Claim], frame: Frame, draws: int = DRAWS, twins: Sequence[Twin] = ()
) -> list[Constant]:
    """The claims that shuffled values or the unlearned twin support too often, or whose verdict no values change.

    Rows are shuffled within a metric (shares and times among each other, and metrics that the claim compares) over all
    conditions, so that no side is better; a claim that compares with a number and not with rows is alike then, and not
    asked. Afterwards each condition has a level of its own at random, so that any may be better by far, or now and then
    all are nearly equal: a rule that never supports there, or never does not, measures nothing of them. A claim that no
    values decide for want of units or rows is not listed. Last, the rows of what was learnt are those of its twin,
    drawn anew within their intervals: what supports a claim there as well was not learnt.
    """
    # Scores of single items would stay as they are.
    judged = replace(frame, scale="paper", rows=frame.rows.assign(items=""))
    found = []
    for claim in claims:
        chosen = judged.narrowed(claim.where)
        scattered = Counter[str]()
        for verdict, _ in _verdicts(claim, chosen, _scattered, draws):
            scattered[verdict] += 1
            decided = scattered[SUPPORTED] + scattered[NOT_SUPPORTED]
            if (scattered[SUPPORTED] and scattered[NOT_SUPPORTED]) or (not decided and scattered.total() >= SHUFFLES):
                break
        never = [verdict for verdict in (SUPPORTED, NOT_SUPPORTED) if not scattered[verdict]]
        if len(never) == 2:
            continue
        found += [Constant(claim.id, f"never {never[0]} in {draws} sets of values")] if never else []
        shuffled, estimates, others = 0, set[float](), 0
        for verdict, estimate in _verdicts(claim, chosen, partial(_shuffled, _compared(claim)), SHUFFLES, whole=False):
            estimates.add(round(estimate, 9))
            shuffled, others = shuffled + (verdict == SUPPORTED), others + (verdict != SUPPORTED)
            if others >= (1 - _MOST_SHUFFLED) * SHUFFLES:
                break
        else:
            if len(estimates) > 1:
                found.append(Constant(claim.id, f"supported in {shuffled} of {SHUFFLES} shuffled sets of values"))
    return found + supported_by_twins(claims, frame, twins)


def supported_by_twins(claims: Sequence[Claim], frame: Frame, twins: Sequence[Twin]) -> list[Constant]:
    """The claims that their twin's rows support in more than a fifth of the draws, in the place of the learnt ones."""
    judged, found = replace(frame, scale="paper"), []
    for claim in claims:
        twin = twin_of(twins, claim.id)
        if twin is None or not twin.name or learnt_rows(twin, judged).empty:
            continue
        if twin_rows(twin, judged).empty:
            found.append(Constant(claim.id, f"its twin, {twin.name}, has no rows"))
            continue
        # The whole frame: a selection of the learnt rows alone has no row of the twin.
        drawn = _verdicts(claim, judged, partial(as_twin, twin), TWINS, whole=False)
        count = sum(verdict == SUPPORTED for verdict, _ in drawn)
        if count > _MOST_OF_TWIN * TWINS:
            found.append(Constant(claim.id, f"supported in {count} of {TWINS} draws of {twin.name} as what was learnt"))
    return found


def _verdicts(
    claim: Claim, frame: Frame, change: Callable[[Frame, np.random.Generator], Frame], draws: int, whole: bool = True
) -> Iterator[tuple[str, float]]:
    import numpy as np

    rng = np.random.default_rng(0)
    for number in range(draws if len(frame.select()) else 0):
        # The values that are there are one set of values.
        row = claim.row(frame if whole and not number else change(frame, rng), {})
        verdict = INCONCLUSIVE if row["verdict"] == NOT_TESTABLE else str(row["verdict"])
        yield verdict, float(row.get("estimate", math.nan))


def _compared(claim: Claim) -> dict[str, str]:
    """The metrics whose rows are another side of the claim than those of a metric, by name."""
    sides = [where.get("metric") for where in getattr(claim.find, "selections", list)()][:2]
    first, second = ([side] if isinstance(side, str) else list(side or []) for side in [*sides, None, None][:2])
    return {other: one for one, other in zip(first, second, strict=False) if one != other}


def _shuffled(compared: Mapping[str, str], frame: Frame, rng: np.random.Generator) -> Frame:
    """The scores with their intervals, in another order, among the rows of each metric and of those that it is compared
    with, and among all shares and all times."""
    rows = frame.rows.copy()
    known = frame.select()
    together = known["metric"].replace(compared).where(~known["unit"].isin(_ALIKE), known["unit"])
    for _, part in known.groupby(together, sort=False):
        rows.loc[part.index, _SCORE] = part[_SCORE].to_numpy()[rng.permutation(len(part))]
    return replace(frame, rows=rows)


def _scattered(frame: Frame, rng: np.random.Generator) -> Frame:
    """Each value of some factors times a level of its own, and now and then each combination of them: units and items
    differ a little, conditions by far, or all by next to nothing, also from their trivial answers."""
    import numpy as np
    import pandas

    known, rows = frame.select(), frame.rows.copy()
    conditions = [name for name in (*frame.factors, "metric", "split", "subset") if name not in _UNITS]
    conditions = [name for name in conditions if known[name].nunique() > 1]
    # A bound may lie far from the rows that are there, and a claim may be one of equality.
    level, apart = _levels(known, ["metric"], rng, 1.5), 1.0 if rng.random() < 0.9 else _NEARLY
    # Every other time each: units of two kinds that differ by far decide nothing.
    for name in conditions:
        level *= _levels(known, [name], rng, apart * _APART) if rng.random() < 0.5 else 1.0
    if conditions and rng.random() < 0.25:
        level *= _levels(known, conditions, rng, apart * _APART)
    percent = (known["unit"] == "percent").to_numpy()
    middle = known.groupby("metric")["value"].transform(lambda values: values.abs().mean() or 1.0).to_numpy()
    value = np.where(percent, np.clip(45 * level, 0, 99), middle * level)
    # A claim may be that scores are those of the trivial answer.
    if apart == _NEARLY and rng.random() < 0.5:
        value = known["baseline_value"].fillna(pandas.Series(value, known.index)).to_numpy()
    value = value * np.exp(apart * 0.01 * rng.normal(size=len(known)))
    # A difference may have either sign.
    value = np.where(known["unit"] == "number", (value - middle) * 2, value)
    rows.loc[known.index, "value"] = value
    reach = np.where(known["low"].isna(), np.nan, apart * (0.02 * np.abs(value) + 1e-6))
    rows.loc[known.index, "low"], rows.loc[known.index, "high"] = value - reach, value + reach
    return replace(frame, rows=rows)


def _levels(rows: Rows, names: list[str], rng: np.random.Generator, spread: float) -> np.ndarray:
    import numpy as np

    groups = rows.groupby(names, dropna=False, sort=False).ngroup().to_numpy()
    return np.exp(spread * rng.normal(size=groups.max() + 1))[groups]


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """List such claims of every paper of a results folder; returns the exit status."""
    from reprlab.results.records import records_of

    parser = argparse.ArgumentParser(prog="python -m reprlab.results.chance", description=__doc__)
    parser.add_argument("results", type=Path, help="a results folder: runs/<run>/results")
    parser.add_argument("--draws", type=int, default=DRAWS, help="sets of any values for each claim")
    options = parser.parse_args(arguments)
    listed = False
    for path in sorted(options.results.glob("*/results.parquet")):
        records: Any = records_of(path.parent.name.replace("-", "_"))
        for one in decided_by_chance(records.claims, read_frame(path), options.draws, records.twins):
            listed = True
            sys.stdout.write(f"{path.parent.name}\t{one.claim}\t{one.why}\n")
    return int(listed)


if __name__ == "__main__":
    sys.exit(main())
