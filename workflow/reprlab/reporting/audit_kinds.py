"""Parts that checks of audits share: numbers as they are printed, properties that hold, counts behind shares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from reprlab.reporting.audit import Found, found, rounded

_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def number(value: object) -> Decimal:
    """A number, or the first one in a text such as `about 1,200 (footnote 8)`, exactly.

    Raises:
        ValueError: the text has none.
    """
    if isinstance(value, str):
        match = _NUMBER.search(value)
        if match is None:
            raise ValueError(f"'{value}' has no number")
        return Decimal(match[0].replace(",", ""))
    return value if isinstance(value, Decimal) else Decimal(value)  # type: ignore[arg-type]


def equal(printed: str, recomputed: str) -> bool:
    """Whether both texts are equal, as numbers where both are numbers."""
    try:
        return printed == recomputed or Decimal(printed) == Decimal(recomputed)
    except InvalidOperation:
        return False


def near(printed: Decimal, value: Decimal, tolerance: float) -> bool:
    """Whether a value is within `tolerance` of the printed one, the decimal that `tolerance` is written as included."""
    return value.is_finite() and abs(printed - value) <= Decimal(str(tolerance))


def significant(value: Decimal, digits: int) -> Decimal:
    """`value` at this many significant digits, halves away from zero: how "about" is read."""
    return rounded(value.scaleb(-value.adjusted()), digits - 1).scaleb(value.adjusted())


def misprint(value: Decimal | Fraction, printed: str) -> str:
    """How the number in `printed` is not `value` rounded at its decimals; empty where it is.

    Halves may have been rounded either way. Further decimals that were cut off are no rounding, and are told apart from
    another number: the one rule for all papers.
    """
    text = number(printed)
    exact = Decimal(value.numerator) / value.denominator if isinstance(value, Fraction) else value
    unit = Decimal(1).scaleb(int(text.as_tuple().exponent))  # type: ignore[arg-type]
    if abs(exact - text) <= unit / 2:
        return ""
    return "cut, not rounded" if exact.quantize(unit, rounding=ROUND_DOWN) == text else "another number"


def counted(truths: Mapping[str, Any] | Iterable[Any], none: str = "", **names: object) -> Found:
    """How many of `total` hold; the row agrees where all do, and there are any.

    Of named ones, `off` lists those that do not; where all hold it is `none`.
    """
    each = list(truths.values()) if isinstance(truths, Mapping) else list(truths)
    off = [name for name, holds in truths.items() if not holds] if isinstance(truths, Mapping) else []
    agrees = bool(each) and all(each)
    return found(sum(map(bool, each)), agrees, total=len(each), off=", ".join(off) or none, **names)


def listed(names: Iterable[str]) -> Found:
    """How many names there are; `names` shows them."""
    each = list(names)
    return found(len(each), names=", ".join(each))


def counts_behind(shares: Iterable[str], size: int, *, whole: int = 1, places: int = 2) -> list[bool]:
    """Whether each printed share is a count of `size` examples, rounded; `whole` is what all of them print as."""
    possible = {rounded(Decimal(whole * count) / size, places) for count in range(size + 1)}
    return [rounded(Decimal(share), places) in possible for share in shares]


def majority(counts: Iterable[Any]) -> Decimal:
    """Share of the largest class: what the best constant predictor gets right."""
    numbers = [int(count) for count in counts]
    return Decimal(max(numbers)) / sum(numbers)
