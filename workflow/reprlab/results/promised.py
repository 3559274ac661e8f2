"""What a plan promises: our side of the printed tables, with a placeholder for each value that a job will write."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reprlab.results.comparison import Own
from reprlab.results.frame import Choice, Frame, Rows, frame_of
from reprlab.results.records import PaperResults, Table
from reprlab.results.schema import FIXED
from reprlab.results.sources import GatherSettings, Missing, Source, Value
from reprlab.runtime.errors import ReprlabError

# A number that every unit allows, with an interval.
_PLACEHOLDER: dict[str, Any] = {"value": 50.0, "low": 40.0, "high": 60.0, "n": 100, "steps": 1, "tokens": 1}
_HARDEST: dict[str, Any] = {"baseline_value": 10.0, "margin": 40.0, "above_trivial": "above", "seen": 0}

_KINDS: dict[str, Any] = {"text": str, "whole": int, "number": int | float}
_MATCHED = ("metric", "split", "subset")
# Columns of which a file has one value, tried in this order.
_SINGLE: tuple[tuple[str, ...], ...] = ((), ("split", "subset"), (*_MATCHED, "*"))

Job = Mapping[str, Any]


def promised(
    records: PaperResults, settings: GatherSettings, jobs: Mapping[str, Job], asked: Mapping[str, Sequence[Value]]
) -> Own:
    """Our side of a comparison before the run.

    A column of a file that its source leaves open has the values that the job behind it is given, else those that the
    table selects, the paper declares, or the printed rows ask for, in this order.

    Args:
        records: the paper's results.
        settings: its sources and missing cells.
        jobs: the settings of the planned job that makes each file, by path.
        asked: values of the printed tables' keys.
    """
    known = _Promised(settings, jobs, asked)

    def made(table: Table) -> Rows:
        where = {name: table.choices(name, settings.options) for name in table.where}
        entries = settings.narrowed(where).entries
        for single in _SINGLE[:-1]:
            try:
                return table.make(known.frame(entries, where, single))
            except ReprlabError:
                # A table that has no place for several splits or metrics is made of files with one of them.
                continue
        return table.make(known.frame(entries, where, _SINGLE[-1]))

    chosen: dict[str, list[Any]] = {}
    for table in records.tables:
        for name in table.where:
            chosen.setdefault(name, []).extend(table.choices(name, settings.options))
    whole = known.frame(settings.entries, {name: list(dict.fromkeys(found)) for name, found in chosen.items()})
    return Own(whole, functools.cache(lambda name: made(records.table(name))))


class _Promised:
    def __init__(self, settings: GatherSettings, jobs: Mapping[str, Job], asked: Mapping[str, Sequence[Value]]) -> None:
        self.settings, self.jobs, self.asked = settings, jobs, asked

    def frame(
        self, entries: Sequence[Source | Missing], where: Mapping[str, Sequence[Choice]], single: Sequence[str] = ()
    ) -> Frame:
        """The frame of some entries, as a table that makes this selection needs it."""
        import pandas

        named = [name for name, factor in self.settings.factors.items() if factor.identifies]
        same = [*named, *_MATCHED, "reason"]
        # Of millions of combinations a few thousand differ: the first of each, before a frame is made of them.
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        for entry in entries:
            for row in self._rows(entry, where, single):
                rows.setdefault(tuple(map(row.get, same)), row)
        frame = pandas.DataFrame(list(rows.values()), columns=[*self.settings.factors, *FIXED])
        return frame_of(frame.assign(scale=self.settings.scale), self.settings)

    def _rows(
        self, entry: Source | Missing, where: Mapping[str, Sequence[Any]], single: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        if isinstance(entry, Missing):
            yield {**entry.factors, "reason": entry.reason}
            return
        about = {"source": entry.path.as_posix(), "data": entry.data, **_PLACEHOLDER}
        about |= {"baseline": entry.baselines[0].name, **_HARDEST} if entry.baselines else {}
        for row in self._open(entry, where, single):
            one = {name: value for name, value in {**entry.factors, **row}.items() if value != ""}
            metric = self.settings.metrics.get(str(one.get("metric")))
            if metric is not None:
                yield {**about, **one, "unit": metric.unit}

    def _open(
        self, entry: Source, where: Mapping[str, Sequence[Any]], single: Sequence[str]
    ) -> Iterator[dict[str, Value]]:
        """The combinations of columns that are not the same for the whole source."""
        columns = {name: name for name in _MATCHED if name not in entry.factors} | entry.keys
        given, values = self.jobs.get(entry.path.as_posix(), {}), dict[str, Sequence[Value]]()
        for name, column in columns.items():
            wanted = entry.where.get(column)
            if name == "metric" and entry.wide:
                values[name] = entry.wide
            elif wanted is not None:
                values[name] = wanted if isinstance(wanted, list) else [wanted]
            else:
                values[name] = self._of_job(name, column, given) or self._elsewhere(name, where, single)
        values |= {name: values[name][:1] for name in single if name in values}
        rows = [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]
        # The cells that a job lists say which values go together.
        listed = [one for one in given.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        cells = [
            [
                {name: one[column] for name, column in columns.items() if column in one}
                for one in part
                if _meant(one, entry)
            ]
            for part in listed
        ]
        known: list[dict[str, Value]] = max(filter(None, cells), key=lambda part: len(part[0]), default=[{}])
        yield from ({**row, **one} for row in rows for one in known)

    def _of_job(self, name: str, column: str, given: Job) -> list[Value]:
        kind = self.settings.factors[name].kind if name in self.settings.factors else "text"
        for setting in (f"{column}s", column):
            listed = given.get(setting)
            # One number of a plural is a count, as that of steps.
            listed = [listed] if setting == column and not isinstance(listed, list) else listed
            if not isinstance(listed, list):
                continue
            # A union of splits is a list, with this name in files; an estimator has a name.
            listed = ["+".join(one) if isinstance(one, list) and name != "split" else one for one in listed]
            listed = [one["name"] if isinstance(one, dict) and "name" in one else one for one in listed]
            if listed and all(isinstance(one, _KINDS[kind]) for one in listed):
                # Of metrics a paper gathers some, and names others by itself.
                return [one for one in listed if name != "metric" or one in self.settings.metrics]
        return []

    def _elsewhere(self, name: str, where: Mapping[str, Sequence[Any]], single: Sequence[str]) -> Sequence[Value]:
        factor = self.settings.factors.get(name)
        selected = [one for one in where.get(name, ()) if isinstance(one, str | int | float)]
        known = selected or [*(self.settings.metrics if name == "metric" else factor.values if factor else ())]
        if known:
            return known[:1] if name in single or "*" in single else known
        if factor is None:
            return ["", *self.asked.get(name, [])]
        return self.asked.get(name) or ["" if factor.kind == "text" else 0]


def _meant(cell: Mapping[str, Any], entry: Source) -> bool:
    """Whether a cell that a job lists is among the rows of a source."""
    several = (
        (cell[name], one if isinstance(one, list) else [one]) for name, one in entry.where.items() if name in cell
    )
    return all(value in wanted for value, wanted in several)
