"""Declarations of a paper's results: factors, metrics, tables, figures, claims and printed tables, each once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reprlab.baselines.declared import declared
from reprlab.results.claims import Claim
from reprlab.results.comparison import Own, Printed
from reprlab.results.frame import Choice, Edge, Frame, Option, Rows, choices
from reprlab.results.neighbours import Neighbour
from reprlab.results.schema import FIXED, Factor, Metric
from reprlab.results.sources import GatherSettings, Missing, Source
from reprlab.results.twins import Twin
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class Table:
    """`results/<slug>/<name>.tsv`: a selection of the frame and what is made of it.

    `build` is a record (`Listing`, `Pivot`) or a plain function of the frame.
    """

    name: str
    caption: str
    build: Callable[[Frame], Rows]
    where: Mapping[str, Choice] = field(default_factory=dict)

    def choices(self, name: str, options: Mapping[str, Any]) -> list[Any]:
        """The values of a column that the selection takes."""
        return choices(self.where[name], options)

    def make(self, frame: Frame) -> Rows:
        """The table; one row with scale and reason where the selection has no value."""
        chosen = frame.narrowed(self.where)
        table = self.build(chosen)
        if len(table):
            return table
        reason = chosen.reason() or f"not run at scale {frame.scale}"
        about = {"scale": frame.scale, "note": reason}
        return type(table)([about], columns=[*table.columns, *(name for name in about if name not in table)])


@dataclass(frozen=True)
class Drawn:
    """Further input of a figure besides its table: the scale, and printed tables."""

    scale: str
    printed: Mapping[str, Rows]


@dataclass(frozen=True)
class Figure:
    """`results/<slug>/<name>.png` and `.svg`, drawn from a table by a record (`Curves`, `Bars`, …) or a function."""

    name: str
    caption: str
    table: str
    draw: Callable[[Rows, Drawn], Drawing]
    claim: str = ""
    """The claim whose words and verdict are its title; it is judged on the rows of the table, so that it reads no
    others. Empty: the caption is."""


@dataclass(frozen=True)
class PaperResults:
    """All results of a paper."""

    factors: Mapping[str, Factor]
    metrics: Mapping[str, Metric]
    tables: Sequence[Table]
    claims: Sequence[Claim] = ()
    figures: Sequence[Figure] = ()
    printed: Mapping[str, Printed] = field(default_factory=dict)
    unjudged: Mapping[str, str] = field(default_factory=dict)
    """Scales at which no claim is judged, with the reason."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """People's words for names of the workflow, in figures."""
    twins: Sequence[Twin] = ()
    """What claims about learnt objects are judged against."""
    neighbours: Sequence[Neighbour] = ()
    """Published rivals of the paper's method, in the order of their table."""

    def table(self, name: str) -> Table:
        """The table of a name.

        Raises:
            ReprlabError: there is none.
        """
        return _named(self.tables, name, "table")

    def figure(self, name: str) -> Figure:
        """The figure of a name.

        Raises:
            ReprlabError: there is none.
        """
        return _named(self.figures, name, "figure")

    def claim(self, id: str) -> Claim:
        """The claim of an id.

        Raises:
            ReprlabError: there is none.
        """
        for claim in self.claims:
            if claim.id == id:
                return claim
        raise ReprlabError(f"{id}: there is no such claim; there are {', '.join(one.id for one in self.claims)}")

    def own(self, frame: Frame) -> Own:
        """Our side of the comparison; a table is made once."""
        return Own(frame, functools.cache(lambda name: self.table(name).make(frame)))

    def captions(self, records: Sequence[Table | Figure]) -> dict[str, str]:
        """Captions by name."""
        return {record.name: record.caption for record in records}

    def check(self, slug: str, entries: Sequence[Source | Missing]) -> None:
        """Check names and values of all selections and sources, before anything is trained.

        Raises:
            ReprlabError: a record or a source names what the paper does not declare.
        """
        for table in self.tables:
            self._check_choice(f"{slug}: table {table.name}", table.where)
            for name in getattr(table.build, "used", list)():
                self._check_column(f"{slug}: table {table.name}", name)
        for figure in self.figures:
            self.table(figure.table)
            if figure.claim:
                self.claim(figure.claim)
        for claim in self.claims:
            for where in (claim.where, *getattr(claim.find, "selections", list)()):
                self._check_choice(f"{slug}: claim {claim.id}", where)
        for twin in self.twins:
            for where in (twin.learned, twin.rows):
                self._check_choice(f"{slug}: twin of {', '.join(twin.claims)}", where)
        for one in self.neighbours:
            self._check_neighbour(f"{slug}: neighbour {one.id}", one)
        for entry in entries:
            about = entry.reason if isinstance(entry, Missing) else str(entry.path)
            keys = [] if isinstance(entry, Missing) else list(entry.keys)
            self._check_choice(f"{slug}: {about}", {**dict.fromkeys(keys), **entry.factors})
            if isinstance(entry, Source):
                self._check_baselines(f"{slug}: {about}", entry)

    def settings(self, scale: str, entries: list[Source | Missing], options: Mapping[str, Any]) -> GatherSettings:
        """The settings of the paper's gather job."""
        return GatherSettings(
            scale=scale,
            factors=dict(self.factors),
            metrics=dict(self.metrics),
            entries=entries,
            options=dict(options),
        )

    def _check_neighbour(self, where: str, one: Neighbour) -> None:
        self.claim(one.claim)
        for side in (one.method, one.rival):
            for selection in (side.where, side.sized):
                self._check_choice(where, selection)
        self._check_choice(where, dict.fromkeys(one.by))

    def _check_column(self, where: str, name: str) -> None:
        known = [*self.factors, *FIXED]
        if name not in known:
            raise ReprlabError(f"{where}: no column {name}; declared are {', '.join(known)}")

    def _check_baselines(self, where: str, source: Source) -> None:
        """A paper may add baselines, and leaves out none that is declared for the kind of its answers."""
        named = source.where.get("metric", source.wide)
        scored = [name for name in (named if isinstance(named, list) else [named]) if self._is_scored(name)]
        if scored and source.answer is None and not source.unjudged and not source.differences:
            raise ReprlabError(
                f"{where}: {scored[0]} is beside no baseline; name the kind of its answers, or why it is not judged"
            )
        names = [one.name for one in source.baselines]
        if source.answer is not None and (lacking := [one for one in declared(source.answer) if one not in names]):
            raise ReprlabError(f"{where}: answers of the kind {source.answer} are beside {lacking[0]} as well; add it")

    def _is_scored(self, name: Any) -> bool:
        return name in self.metrics and self.metrics[name].scored

    def _check_choice(self, where: str, choice: Mapping[str, Any]) -> None:
        for name, wanted in choice.items():
            self._check_column(where, name)
            known: list[Any] = list(self.metrics) if name == "metric" else []
            known = list(self.factors[name].values) if name in self.factors else known
            for value in wanted if isinstance(wanted, tuple) else [wanted]:
                if known and value is not None and not isinstance(value, Option | Edge) and value not in known:
                    raise ReprlabError(f"{where}: {name} is never {value!r}; declared are {', '.join(map(str, known))}")


def _named(records: Sequence[Any], name: str, what: str) -> Any:
    for record in records:
        if record.name == name:
            return record
    raise ReprlabError(f"{name}: there is no such {what}; there are {', '.join(record.name for record in records)}")


def records_of(paper: str) -> PaperResults:
    """The records of a paper, by the name of its package.

    Raises:
        ReprlabError: it declares none.
    """
    from reprlab.plugins import load_plugin

    found: PaperResults = load_plugin("papers", f"{paper}.results").RESULTS
    return found


def has_neighbours(slug: str) -> bool:
    """Whether a paper declares neighbours."""
    return bool(records_of(slug).neighbours)
