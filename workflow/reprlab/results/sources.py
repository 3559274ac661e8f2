"""Sources that a planner registers: files of scored stages with the factors of their rows, and empty cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.baselines.declared import AnswerKind, declared
from reprlab.results.schema import Factor, Metric

_STRICT = ConfigDict(extra="forbid", frozen=True)

Value = str | int | float

NOT_REHEARSED = "not run in a rehearsal"
"""Why cells of jobs are empty for which another one of their class stands."""


class Baseline(BaseModel):
    """A trivial baseline of a source, matched by metric, split, subset and `on`; the mean where several rows match."""

    model_config = _STRICT

    name: str
    """Its name: majority, copy, untrained."""
    path: Path
    """File with its rows."""
    where: dict[str, Value] = {}
    """Its rows in the file, by column."""
    on: list[str] = []
    """Columns of both files that must be equal as well, where one file holds the baselines of many cells."""
    column: str = "value"
    """The column that holds it: `value`, or one beside the scores themselves."""


class Items(BaseModel):
    """The scores of single items behind a source, so that items are drawn together of all sides of a difference."""

    model_config = _STRICT

    path: Path
    """Parquet below the run's folder, or a folder with one: a row for each item and whatever tells scores apart."""
    item: str
    """Column that names the items, which are the same wherever the names are."""
    counts: dict[str, tuple[str, str]] = {}
    """Metric: the columns whose sums over items make it, the first as a percentage of the second. Of others the mean
    over items of a column with the metric's name is taken."""
    where: dict[str, Value] = {}
    """Its rows in the file, by column."""


class Source(BaseModel):
    """Rows of one file of a scored stage."""

    model_config = _STRICT

    path: Path
    """TSV below the run's folder."""
    factors: dict[str, Value] = {}
    """Factors that hold for all its rows."""
    keys: dict[str, str] = {}
    """Factor: the column of the file that holds it row by row."""
    where: dict[str, Value | list[Value]] = {}
    """The rows that are meant, by column of the file; all, if empty."""
    wide: list[str] = []
    """Columns that are metrics, one row each, also beside `metric` and `value`; empty: these two are taken."""
    data: str = ""
    """True name of the data."""
    selection: Path | None = None
    """selected.json: of each name, the rows at the learning rate that it chose."""
    baselines: list[Baseline] = []
    """Trivial answers that the rows must beat to be called `above_trivial`: all of them."""
    answer: AnswerKind | None = None
    """Kind of answer that its scores are of: all baselines that are declared for it are among `baselines`."""
    unjudged: str = ""
    """Why its scores are not judged against baselines: it is one of them, or the model without training."""
    differences: bool = False
    """Whether its values are differences of two scores: not judged, and in a range as wide to either side."""
    tried: int = Field(default=1, ge=1)
    """Settings of which the best was chosen on the very items that are scored; `standing` pays for it."""
    untrained: dict[str, Value] = {}
    """Factors of the rows of the same model without training, tuned alike, behind `above_untrained`."""
    items: Items | None = None
    """The items that its scores are over, where each has a score of its own."""
    partial: bool = False
    """Whether its files hold rows of those jobs alone that a rehearsal runs: where they hold none, it is missing."""


def rivals(
    answer: AnswerKind, path: Path | str, further: Sequence[str] = (), *, where: Mapping[str, Value] = {}, **own: Any
) -> dict[str, Any]:
    """`answer` and `baselines` of a source: all that are declared for its kind of answer, as rows of `path` by `name`.

    Args:
        further: names of others.
        where, own: further fields of each `Baseline`.
    """
    names = dict.fromkeys([*declared(answer), *further])
    rows = [Baseline(name=name, path=Path(path), where={**where, "name": name}, **own) for name in names]
    return {"answer": answer, "baselines": rows}


class Missing(BaseModel):
    """Cells that have no value, by the factors that are known of them; a factor that is not given means all."""

    model_config = _STRICT

    factors: dict[str, Value] = {}
    """Factors of the cells."""
    reason: str = Field(min_length=1)
    """Why they are empty, in words for the reader."""


class GatherSettings(BaseModel):
    """Everything behind one paper's results.parquet."""

    model_config = _STRICT

    scale: str
    """Scale of the run."""
    factors: dict[str, Factor]
    """The paper's factors."""
    metrics: dict[str, Metric]
    """The paper's metrics."""
    entries: list[Source | Missing]
    """Sources and missing cells; tables have rows and columns in their order."""
    options: dict[str, Any] = {}
    """Settings of the paper that its tables must know, such as the level of intervals."""

    def entries_of(self, where: Mapping[str, Sequence[Value]]) -> list[Source | Missing]:
        """The entries that may have a row of a selection, given as the values of each column."""
        return [entry for entry in self.entries if _may_have(_known(entry), where)]

    def narrowed(self, where: Mapping[str, Sequence[Value]]) -> GatherSettings:
        """Without the entries that cannot have a row of a selection, given as the values of each column."""
        known = [_known(entry) for entry in self.entries]
        kept = [_may_have(values, where) for values in known]
        # The verdict `above_untrained` of a kept source looks at the untrained model; most sources have the same one.
        beside: dict[tuple[str, ...], _Combinations] = {}
        for one, keep in zip(self.entries, kept, strict=True):
            if keep and isinstance(one, Source) and one.untrained:
                names, values = zip(*sorted(one.untrained.items()), strict=True)
                beside.setdefault(names, _Combinations(names)).all.add(values)
        chosen = [
            entry
            for entry, values, keep in zip(self.entries, known, kept, strict=True)
            if keep or any(wanted.one_of(values) for wanted in beside.values())
        ]
        return self.model_copy(update={"entries": chosen})

    def paths(self) -> list[Path]:
        """Every file that is read, sorted."""
        sources = [entry for entry in self.entries if isinstance(entry, Source)]
        found = {path for one in sources for path in (one.path, one.selection) if path is not None}
        return sorted(found | {baseline.path for one in sources for baseline in one.baselines})

    def items(self) -> list[Path]:
        """Every file with the items of a source, sorted."""
        return sorted({one.items.path for one in self.entries if isinstance(one, Source) and one.items})


def _known(entry: Source | Missing) -> dict[str, Any]:
    """The common values of all rows of an entry: a value, or the list of those that occur, by column."""
    if isinstance(entry, Source):
        return {**({"metric": entry.wide} if entry.wide else {}), **entry.where, **entry.factors}
    return dict(entry.factors)


def _may_have(known: Mapping[str, Any], where: Mapping[str, Sequence[Value]]) -> bool:
    for name, wanted in where.items():
        value = known.get(name)
        if isinstance(value, list):
            if not any(one in wanted for one in value):
                return False
        elif value is not None and value not in wanted:
            return False
    return True


class _Combinations:
    """Combinations of values of some columns, of which entries are asked for one that they may have."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.all: set[tuple[Value, ...]] = set()
        self._of: dict[tuple[str, ...], set[tuple[Value, ...]]] = {}

    def one_of(self, known: Mapping[str, Any]) -> bool:
        """Whether an entry can have a row with one of them; a column that it does not give can have any value."""
        names = tuple(name for name in self.names if known.get(name) is not None)
        own = tuple(known[name] for name in names)
        if any(isinstance(value, list) for value in own):
            whole = (dict(zip(self.names, row, strict=True)) for row in self.all)
            return any(_may_have(known, {name: [value] for name, value in row.items()}) for row in whole)
        if names not in self._of:
            places = [self.names.index(name) for name in names]
            self._of[names] = {tuple(row[place] for place in places) for row in self.all}
        return own in self._of[names]
