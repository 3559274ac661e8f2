"""Sizes of data that are not here yet: `resources/data_sizes.tsv`, from which costs are reckoned."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reprlab.planning.measured_tables import read_rows
from reprlab.runtime.errors import ReprlabError

TABLE = "resources/data_sizes.tsv"
# A gigabyte in bytes.
_GB = 10**9
KNOWN_BYTES = {"c4_en": 305 * _GB, "wikipedia_20231101_en": 11_600_000_000}
"""Archives whose size nobody tells without a network, by their pages."""
# Examples of data whose number nobody gave.
_UNKNOWN = 10_000


@dataclass(frozen=True)
class Size:
    """Part of a data set."""

    examples: float
    """How many there are; a mean where the part is one of documents."""
    tokens: float | None = None
    """Mean tokens of one, frames of speech; None: as long as the job lets it be."""
    answer: float = 0
    """Mean tokens of its answer."""
    note: str = ""
    """That nobody knows the number."""

    def at_most(self, limit: int | None) -> int:
        """Examples under a job's limit."""
        return math.ceil(self.examples if limit is None else min(self.examples, limit))

    def within(self, length: float) -> float:
        """Tokens of one that is cut to `length`."""
        return length if self.tokens is None else min(length, self.tokens)


class DataSizes:
    """Sizes by data set and part: a split, or `texts`, `passages`, `prompt` and others that a stage reads."""

    def __init__(self, rows: Mapping[tuple[str, str], Size]) -> None:
        self._rows = rows

    @classmethod
    def load(cls, root: Path) -> "DataSizes":
        """The table of a checkout.

        Raises:
            ReprlabError: a number is not one.
        """
        found = {}
        for row in read_rows(root / TABLE):
            try:
                examples = float(row["examples"]) if row["examples"] else math.nan
                tokens = float(row["tokens"]) if row["tokens"] else None
                found[row["data"], row["part"]] = Size(examples, tokens, float(row["answer"] or 0))
            except (KeyError, TypeError, ValueError):
                raise ReprlabError(f"{TABLE}: {row}: examples, tokens and answer are numbers or empty") from None
        return cls(found)

    def of(self, data: str, part: str, otherwise: int | None = None) -> Size:
        """The size of a part; where nobody knows it, `otherwise` or 10,000 examples, with a note.

        Args:
            otherwise: the limit of a job.
        """
        found = self._rows.get((data, part))
        if found is not None and not math.isnan(found.examples):
            return found
        tokens, answer = (found.tokens, found.answer) if found else (None, 0.0)
        if otherwise is not None:
            return Size(otherwise, tokens, answer)
        return Size(_UNKNOWN, tokens, answer, f"{data}: number of {part} not known, {_UNKNOWN} taken")
