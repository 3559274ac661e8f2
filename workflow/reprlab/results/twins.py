"""The unlearned twin of what a paper learns: the same in all but what was learnt.

A claim about what was learnt is judged against its twin (a random dictionary of equal number and density, a drawn model,
the model without the update), or says in one line why it is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from reprlab.results.frame import Choice, Frame
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import numpy as np

_SCORE = ["value", "low", "high"]
_SAME = ("metric", "split", "subset")
_LEVEL = 3.92
"""Width of a 95 % interval in standard deviations."""


@dataclass(frozen=True)
class Twin:
    """A twin and the claims that are judged against it; without `name`, claims that have none, and why."""

    claims: tuple[str, ...]
    name: str = ""
    """In words: "a random dictionary of equal number and density"."""
    learned: Mapping[str, Choice] = field(default_factory=dict)
    """What the rows of the learnt object have in common."""
    rows: Mapping[str, Any] = field(default_factory=dict)
    """What the rows of the twin have in its place; in all other factors they are the same."""
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
            raise ReprlabError(f"the twin of {', '.join(twin.claims)} has a name with its rows, or a reason why there is none")


def as_twin(frame: Frame, twin: Twin, rng: np.random.Generator | None = None) -> Frame:
    """The frame with the twin's rows in place of those of the learnt object; what has no twin in it stays.

    With `rng` each value is drawn anew within its own interval, as if the twin had been made a second time. Scores of
    single items, which would stay as they are, are left out.
    """
    rows, known = frame.rows.assign(items=""), frame.select(**twin.learned)
    keys = [name for name in (*frame.factors, *_SAME) if name not in twin.rows]
    changed = known.assign(**twin.rows)[[*keys, *twin.rows]]
    beside = frame.select(**{name: value for name, value in twin.rows.items()})
    beside = beside[[*keys, *twin.rows, *_SCORE]].drop_duplicates([*keys, *twin.rows])
    types = {name: beside[name].dtype for name in twin.rows}
    found = changed.astype(types).merge(beside, on=[*keys, *twin.rows], how="left", validate="many_to_one")
    has = found["value"].notna().to_numpy()
    values = found.loc[has, _SCORE].set_axis(known.index[has])
    if rng is not None:
        width = (values["high"] - values["low"]).fillna(0.0).clip(lower=0.0)
        moved = rng.normal(size=len(values)) * width / _LEVEL
        values = values.assign(**{name: values[name] + moved for name in _SCORE})
    rows.loc[values.index, _SCORE] = values
    return replace(frame, rows=rows)
