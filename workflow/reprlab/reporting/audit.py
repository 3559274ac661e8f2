"""Rows of an audit: what a paper prints beside what its own numbers, or the known definitions, give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

from reprlab.artifacts.tables import write_tsv
from reprlab.runtime.errors import ReprlabError

AGREES = "agrees"
DIFFERS = "differs"
NOT_CHECKABLE = "not checkable"
VERDICTS = (AGREES, DIFFERS, NOT_CHECKABLE)
COLUMNS = ("id", "what", "printed", "recomputed", "verdict", "note")


@dataclass(frozen=True)
class AuditRow:
    """One check. `id` is the number of the check, with a letter where a number has several rows."""

    id: str
    what: str
    printed: str
    recomputed: str
    verdict: str
    note: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ReprlabError(f"audit {self.id}: '{self.verdict}' is not one of {', '.join(VERDICTS)}")


@dataclass(frozen=True)
class Found:
    """The value that a check recomputed; `names` are shown in the texts of its record."""

    value: object
    agrees: bool | None = None
    names: Mapping[str, object] = field(default_factory=dict)


def found(value: object, agrees: object = None, **names: object) -> Found:
    """A value, whether it agrees where the record has no rule for that, and the names that its texts show."""
    return Found(value, None if agrees is None else bool(agrees), names)


def rounded(value: Decimal | Fraction | float, places: int) -> Decimal:
    """`value` with `places` decimals, halves away from zero as in print (not to even as Python rounds)."""
    if isinstance(value, Fraction):
        with_guard = Decimal(value.numerator) / Decimal(value.denominator)
    else:
        with_guard = Decimal(str(value)) if isinstance(value, float) else value
    return with_guard.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def decimals(text: str) -> int:
    """Number of decimals with which a value is printed."""
    return len(text.partition(".")[2])


def mean(values: Iterable[str]) -> Decimal:
    """Exact mean of printed values."""
    numbers = [Decimal(value) for value in values]
    return sum(numbers, Decimal(0)) / len(numbers)


def write_audit(path: Path, rows: list[AuditRow]) -> None:
    """Write the rows in the given order.

    Raises:
        ReprlabError: two rows have one id.
    """
    import pandas

    ids = [row.id for row in rows]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise ReprlabError(f"{path}: the audit has two rows {twice[0]}; give each its own id")
    write_tsv(path, pandas.DataFrame([asdict(row) for row in rows], columns=list(COLUMNS)))
