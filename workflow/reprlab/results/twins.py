"""The unlearned twin of what a paper learns: the same in all but what was learnt.

A claim about what was learnt is judged against its twin (a random dictionary of equal number and density, a drawn
model, the model without the update), or says in one line why it is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from reprlab.results.frame import Choice, Frame, Rows
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import numpy as np

_SCORE = ["value", "low", "high"]
_LEVEL = 3.92
"""Width of a 95 % interval in standard deviations."""


@dataclass(frozen=True)
class Twin:
    """A twin and the claims that are judged against it; without `name`, claims that have none, and why."""

    claims: tuple[str, ...]
    name: str = ""
    """In words: "a random dictionary of equal number and density"."""
    learned: Mapping[str, Any] = field(default_factory=dict)
    """What the rows of the learnt object have in common; None is any value."""
    rows: Mapping[str, Any] = field(default_factory=dict)
    """What the rows of the twin have in its place; all else that `learned` names holds of them as well, but for what is
    None here, of which they may have any value."""
    why_not: str = ""
    """Why these claims are not judged against a twin."""

    @property
    def words(self) -> str:
        """What claims.tsv says."""
        return self.name or f"none: {self.why_not}"


def twin_of(twins: Sequence[Twin], claim: str) -> Twin | None:
    """The twin of a claim; None where it says nothing of one."""
    return next((twin for twin in twins if claim in twin.claims), None)


def check_twins(twins: Sequence[Twin], claims: Sequence[str]) -> None:
    """Refuse claims that neither have a twin nor say why not, or that have two.

    Raises:
        ReprlabError: such a claim, or a twin of a claim that does not exist or with neither or both of name and reason.
    """
    named = [claim for twin in twins for claim in twin.claims]
    for claim in claims:
        if named.count(claim) != 1:
            said = "has two twins" if claim in named else "neither has a twin nor says why not"
            raise ReprlabError(f"claim {claim} {said}; name it in exactly one Twin of the paper")
    if unknown := sorted(set(named) - set(claims)):
        raise ReprlabError(f"a twin of {unknown[0]}: there is no such claim")
    for twin in twins:
        if bool(twin.name) == bool(twin.why_not) or bool(twin.name) != bool(twin.learned and twin.rows):
            raise ReprlabError(
                f"the twin of {', '.join(twin.claims)} has a name with its rows, or a reason why there is none"
            )


def as_twin(twin: Twin, frame: Frame, rng: np.random.Generator | None = None) -> Frame:
    """The frame with the twin's rows, under the names of the learnt object's, in the place of these.

    With `rng` each value is drawn anew within its own interval, as if the twin had been made a second time. Metrics
    that the twin lacks stay as they are. Scores of single items, which would stay as well, are left out.
    """
    import pandas

    rows, known = frame.rows.assign(items=""), learnt_rows(twin, frame)
    own = rows.loc[twin_rows(twin, frame).index]
    labels = [*dict.fromkeys([*twin.learned, *twin.rows])]
    replaced = known.index[known["metric"].isin(own["metric"])]
    copies = [own.assign(**dict(zip(labels, row, strict=True))) for row in _distinct(known.loc[replaced, labels])]
    if rng is not None:
        copies = [_redrawn(one, rng) for one in copies]
    types = dict(rows.dtypes)
    changed = pandas.concat([rows.drop(index=replaced), *(one.astype(types) for one in copies)], ignore_index=True)
    return replace(frame, rows=changed)


def learnt_rows(twin: Twin, frame: Frame) -> Rows:
    """The rows of the learnt object."""
    return frame.select(**_given(twin.learned))


def twin_rows(twin: Twin, frame: Frame) -> Rows:
    """The rows of the twin itself."""
    return frame.select(**_given({**twin.learned, **twin.rows}))


def _given(where: Mapping[str, Any]) -> dict[str, Choice]:
    return {name: value for name, value in where.items() if value is not None}


def _distinct(rows: Rows) -> list[tuple[Any, ...]]:
    return list(rows.drop_duplicates().itertuples(index=False, name=None))


def _redrawn(rows: Rows, rng: np.random.Generator) -> Rows:
    width = (rows["high"] - rows["low"]).fillna(0.0).clip(lower=0.0)
    moved = rng.normal(size=len(rows)) * width / _LEVEL
    return rows.assign(**{name: rows[name] + moved for name in _SCORE})
