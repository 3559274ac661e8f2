"""Reading the files that the planner registered into one frame of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_tsv
from reprlab.results.schema import FIXED, Metric
from reprlab.results.sources import NOT_REHEARSED, GatherSettings, Missing, Source, Value
from reprlab.runtime.errors import ReprlabError

Rows = Any
_MATCHED = ["metric", "split", "subset"]
_BOUNDS = ["value", "low", "high"]
# What arithmetic may leave beyond the ends of a range.
_ROUNDING = 1e-6
# Place of a row's source; no factor has such a name.
_ENTRY = "entry in the settings"
_AGAIN = "delete it and run the same command again"


def gather_rows(settings: GatherSettings) -> Rows:
    """All rows: the paper's factors, then the columns of `schema.FIXED`.

    Raises:
        ReprlabError: a file lacks a column, a row or a metric that the planner promised, or a value is in two rows.
    """
    import pandas

    files = _Files()
    columns = [*settings.factors, *FIXED]
    parts = [_part(entry, place, files, settings) for place, entry in enumerate(settings.entries)]
    kept = [part.dropna(axis="columns", how="all") for part in parts if len(part)]
    frame = pandas.concat(kept, ignore_index=True) if kept else pandas.DataFrame()
    frame = frame.reindex(columns=[*columns, _ENTRY, "tried"]).assign(scale=settings.scale)
    names = [name for name, factor in settings.factors.items() if factor.identifies]
    identity = [*names, *_MATCHED]
    twice = frame[frame["reason"].isna() & frame.duplicated(identity)]
    if len(twice):
        row = twice.convert_dtypes().iloc[0]
        about = " ".join(f"{name}={row[name]}" for name in identity if not pandas.isna(row[name]) and row[name] != "")
        raise ReprlabError(f"{row['source']}: a second value of {about}; register another factor that tells them apart")
    sources = {place: entry for place, entry in enumerate(settings.entries) if isinstance(entry, Source)}
    _require_ranges(frame, settings.metrics, sources)
    _require_baselines(frame, settings.metrics, sources)
    return judged(frame, names, sources, settings.metrics)[columns]


def require_inputs(settings: GatherSettings, inputs: Sequence[Path]) -> None:
    """Check that every file that is read is an input.

    Raises:
        ReprlabError: one is not.
    """
    if undeclared := sorted(set(settings.paths()) - set(inputs)):
        raise ReprlabError(f"{undeclared[0]}: the frame reads it and it is not among the inputs; pass it with --inputs")


def _require_ranges(frame: Rows, metrics: Mapping[str, Metric], sources: Mapping[int, Source]) -> None:
    apart = frame[_ENTRY].isin([place for place, one in sources.items() if one.differences])
    for (name, differ), rows in frame[frame["value"].notna()].groupby(["metric", apart], sort=False):
        low, high = metrics[str(name)].bounds
        low, high = (low - high, high - low) if differ else (low, high)
        outside = rows[(rows["value"] < low - _ROUNDING) | (rows["value"] > high + _ROUNDING)]
        if len(outside):
            row = outside.iloc[0]
            raise ReprlabError(
                f"{row['source']}: {name} is {row['value']:g}, outside its range, {low:g} to {high:g}; {_AGAIN}, or "
                "mend `range` where the metric is declared"
            )


def _require_baselines(frame: Rows, metrics: Mapping[str, Metric], sources: Mapping[int, Source]) -> None:
    """A score that nothing is beside would be read as a result."""
    scored = [name for name, one in metrics.items() if one.scored]
    for place in frame.loc[frame["metric"].isin(scored) & frame["reason"].isna(), _ENTRY].unique():
        source = sources[int(place)]
        if source.answer is None and not source.unjudged and not source.differences:
            raise ReprlabError(
                f"{source.path}: its scores are beside no baseline; give its source the kind of its answers and their "
                "baselines (`answer`), or why it is not judged (`unjudged`)"
            )


class _NoRowsError(ReprlabError):
    """A file has no rows of a condition."""


def _part(entry: Source | Missing, place: int, files: _Files, settings: GatherSettings) -> Rows:
    if isinstance(entry, Missing):
        return _missing(entry)
    try:
        return _rows(entry, files, settings).assign(**{_ENTRY: place})
    except _NoRowsError:
        if not entry.partial:
            raise
        return _missing(Missing(factors=entry.factors, reason=NOT_REHEARSED))


class _Files:
    """Each file is read once; it may feed many sources."""

    def __init__(self) -> None:
        self.tables: dict[Path, Rows] = {}

    def rows(self, path: Path, where: Mapping[str, Value | list[Value]]) -> Rows:
        if path not in self.tables:
            self.tables[path] = read_tsv(path)
        frame = self.tables[path]
        for column, wanted in where.items():
            _require(frame, column, path)
            several = wanted if isinstance(wanted, list) else [wanted]
            # An empty cell is read as missing.
            frame = frame[frame[column].isin(several) | (frame[column].isna() & ("" in several))]
        if frame.empty:
            about = " and ".join(f"{column} = {wanted}" for column, wanted in where.items())
            raise _NoRowsError(f"{path}: has no rows{' with ' if about else ''}{about}; {_AGAIN}")
        return frame


def _rows(source: Source, files: _Files, settings: GatherSettings) -> Rows:
    metrics = settings.metrics
    frame = files.rows(source.path, source.where)
    if source.selection is not None:
        frame = _selected(frame, source.selection)
    if source.wide:
        for column in source.wide:
            _require(frame, column, source.path)
        if "metric" in frame:
            # What is beside the metric of a row is of the file as a whole; value, interval and n are the metric's.
            frame = frame.drop(columns=["metric", "value", "low", "high", "n"], errors="ignore").drop_duplicates()
        frame = frame.melt(
            [name for name in frame if name not in source.wide], source.wide, var_name="metric", value_name="value"
        )
    for column in ("metric", "value", *source.keys.values()):
        _require(frame, column, source.path)
    frame = frame[frame["metric"].isin(list(metrics))]
    kept = [name for name in (*FIXED, "tried") if name in frame]
    beside = _beside_baselines(frame, source, files, metrics)
    texts = {name for name, factor in settings.factors.items() if factor.kind == "text"}
    keys = {name: _words(frame[column], name in texts) for name, column in source.keys.items()}
    found = frame[kept].assign(**beside, **keys)
    found = found.assign(**source.factors)
    found["unit"] = [metrics[name].unit for name in found["metric"]]
    found["source"] = str(source.path)
    if source.items is not None:
        found["items"] = source.items.model_dump_json(exclude_defaults=True)
    if source.data:
        found["data"] = source.data
    if source.tried > 1:
        found["tried"] = source.tried
    return found


def _words(column: Rows, text: bool) -> Rows:
    """Truth values as the words that the file has, true and false; numbers of a text factor (checkpoints) as text."""
    if column.dtype == bool:
        return column.map({True: "true", False: "false"})
    return column.map(str, na_action="ignore") if text else column


def _selected(frame: Rows, path: Path) -> Rows:
    """The rows at the selected rate, with the number of rates of which it was the best on the split of the row."""
    selection = read_json(path)
    rates = {name: entry.get("learning_rate") for name, entry in selection.get("best", {}).items()}
    if unknown := sorted(set(frame["name"]) - set(rates)):
        raise _NoRowsError(f"{path}: selects no learning rate for {unknown[0]}; {_AGAIN}")
    tried = frame.groupby("name")["learning_rate"].transform("nunique")
    if "split" in frame:
        tried = tried.where(frame["split"] == selection.get("split"))
    return frame.assign(tried=tried)[frame["learning_rate"] == frame["name"].map(rates)]


def _beside_baselines(frame: Rows, source: Source, files: _Files, metrics: Mapping[str, Metric]) -> dict[str, Any]:
    """Beside each score the baseline that is hardest to beat by the metric's direction: `above_trivial` means better
    than all; and how many of its items were seen in training, where a baseline's file counts them."""
    import pandas

    if not source.baselines:
        return {}
    values, seen = [], []
    for baseline in source.baselines:
        rows = files.rows(baseline.path, baseline.where)
        for column in (baseline.column, *baseline.on):
            _require(rows, column, baseline.path)
        keys = [*_MATCHED, *baseline.on]
        counted = rows.get("seen", math.nan)
        known = _matched(rows, keys).assign(value=rows[baseline.column].astype(float), seen=counted)
        found = _matched(frame, keys).merge(known.groupby(keys, as_index=False).mean(), on=keys, how="left")
        values.append(found["value"])
        seen.append(found["seen"])
    signs = frame["metric"].map({name: one.sign if one.scored else 0 for name, one in metrics.items()}).to_numpy()
    if not (signs != 0).any():
        return {}
    each = pandas.concat(values, axis=1, keys=range(len(values))).astype(float)[signs != 0]
    turned = each.mul(signs[signs != 0], axis="index")
    names = dict(enumerate(baseline.name for baseline in source.baselines))
    hardest = turned.fillna(-math.inf).idxmax(axis=1).map(names).where(each.notna().any(axis=1))
    beside = pandas.DataFrame({"baseline": hardest, "baseline_value": turned.max(axis=1) * signs[signs != 0]})
    beside["seen"] = pandas.concat(seen, axis=1).astype(float).max(axis=1)
    beside = beside.reindex(range(len(frame)))
    return {str(name): beside[name].to_numpy() for name in beside}


def _matched(rows: Rows, columns: list[str]) -> Rows:
    return rows.reindex(columns=columns).astype(object).fillna("").astype(str)


def judged(frame: Rows, factors: list[str], sources: Mapping[int, Source], metrics: Mapping[str, Metric]) -> Rows:
    """`margin`, `margin_untrained`, `above_trivial` and `above_untrained` of every row, by `statistics.standing` in the
    direction of its metric.

    Rows that differ in their seed alone are judged together and share the verdict. A choice that was made on the
    split of the row is paid for.
    """
    from reprlab.statistics import Score, standing

    signs = frame["metric"].map({name: one.sign for name, one in metrics.items()})
    frame = frame.assign(margin=signs * (frame["value"] - frame["baseline_value"]))
    flags = ["above_trivial", "above_untrained"]
    frame[flags] = frame[flags].astype(object)
    cell = [name for name in (*factors, *_MATCHED) if name != "seed"]
    # What has a reason in place of a value has no verdict.
    judged_rows = frame[frame["baseline_value"].notna() & frame["reason"].isna()]
    for _, rows in judged_rows.groupby(cell, dropna=False, sort=False):
        untrained = _untrained(frame, rows.iloc[0], sources[int(rows[_ENTRY].iloc[0])])
        scores, others = ([Score(*bounds) for bounds in part[_BOUNDS].to_numpy()] for part in (rows, untrained))
        tried = int(rows["tried"].fillna(1).max())
        metric = metrics[str(rows["metric"].iloc[0])]
        better: Any = metric.better
        hardest = metric.sign * (metric.sign * rows["baseline_value"]).max()
        found = standing(scores, hardest, others, tried=tried, better=better)
        frame.loc[rows.index, flags] = [found.above_trivial, found.above_untrained or None]
        if len(untrained):
            frame.loc[rows.index, "margin_untrained"] = metric.sign * (rows["value"] - untrained["value"].mean())
    return frame


def _untrained(frame: Rows, row: Rows, source: Source) -> Rows:
    """The rows of the untrained model beside one."""
    if not source.untrained:
        return frame.iloc[:0]
    chosen = frame["reason"].isna()
    for name, value in source.untrained.items():
        chosen &= frame[name] == value
    for name in _MATCHED:
        chosen &= (frame[name] == row[name]) | (frame[name].isna() & (row[name] != row[name]))
    return frame[chosen]


def _missing(entry: Missing) -> Rows:
    import pandas

    return pandas.DataFrame([{**entry.factors, "reason": entry.reason}])


def _require(frame: Rows, column: str, path: Path) -> None:
    if column not in frame:
        raise ReprlabError(f"{path}: lacks the column {column}; {_AGAIN}")
