"""Two runs side by side, read from their folders: settings, claims, cells of tables, seconds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.config.load import leaves
from reprlab.config.resolved import FILE, scalar
from reprlab.reporting.benchmarks import by_stage, read_benchmarks
from reprlab.settings.yaml_text import read_yaml

if TYPE_CHECKING:
    import pandas

_NOT_COMPARED = {"note", "scale", "data", "rule", "interval", "statistic"}
_APART = {"claims", "audit", "comparison", "cost"}
"""Tables that are not results: claims are compared as claims, the others say the same of the paper in every run."""
COLUMNS = ("table", "row", "column", "first", "second", "difference")


def settings(first: Path, second: Path) -> pandas.DataFrame:
    """Settings that differ: setting, first, second; empty where a run does not have it.

    Raises:
        ReprlabError: a run has no settings file, or one that is not YAML.
    """
    import pandas

    sides = [{".".join(path): value for path, value in leaves(read_yaml(run / FILE).values)} for run in (first, second)]
    names = [name for name in dict.fromkeys([*sides[0], *sides[1]]) if not name.startswith("runtime.")]
    pairs = [(name, *(scalar(side[name]) if name in side else "" for side in sides)) for name in names]
    rows = [pair for pair in pairs if pair[1] != pair[2]]
    return pandas.DataFrame(rows, columns=["setting", "first", "second"])


def claims(first: Path, second: Path) -> pandas.DataFrame:
    """Claims that both runs have: paper, id, claim, both verdicts, both estimates, difference."""
    import pandas

    parts = []
    for name, one, other in _both(first, second, lambda stem: stem == "claims"):
        joined = one.merge(other, on="id", suffixes=("", "_second"))
        part = joined[["id", "claim", "verdict", "verdict_second", "estimate", "estimate_second"]]
        part = part.assign(difference=joined["estimate_second"] - joined["estimate"])
        parts.append(part.assign(paper=name.split("/")[0])[["paper", *part.columns]])
    columns = ["paper", "id", "claim", "verdict", "verdict_second", "estimate", "estimate_second", "difference"]
    return pandas.concat(parts, ignore_index=True) if parts else pandas.DataFrame(columns=columns)


def tables(first: Path, second: Path) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Cells that differ (table, row, column, first, second, difference), and a summary with a row for each table.

    Rows of two tables are the same where the columns that tell rows apart are equal: the fewest columns of text and
    whole numbers, from the left, that do so in both tables.
    """
    import pandas

    cells, counted = [], []
    for name, one, other in _both(first, second, lambda stem: stem not in _APART):
        keys = _keys(one, other)
        values = [column for column in one if column in other and column not in keys and _compared(str(column))]
        joined = _numbered(one, keys).merge(_numbered(other, keys), on=[*keys, "_number"], suffixes=("", "_second"))
        found = [cell for column in values for cell in _differing(name, joined, keys, str(column))]
        cells += found
        alone = len(one) - len(joined), len(other) - len(joined)
        counted.append((name, len(joined), *alone, len(joined) * len(values), len(found)))
    names = ["table", "rows of both", "rows of the first alone", "rows of the second alone", "cells", "different"]
    return pandas.DataFrame(cells, columns=list(COLUMNS)), pandas.DataFrame(counted, columns=names)


def _both(first: Path, second: Path, wanted: Any) -> list[tuple[str, pandas.DataFrame, pandas.DataFrame]]:
    """The tables that both runs have, by `<slug>/<name>`."""
    found = []
    for path in sorted((first / "results").glob("*/*.tsv")):
        other = second / path.relative_to(first)
        if path.with_suffix(".provenance.json").exists() and wanted(path.stem) and other.exists():
            found.append((f"{path.parent.name}/{path.stem}", read_tsv(path), read_tsv(other)))
    return found


def _compared(name: str) -> bool:
    ends = name.startswith(("data_", "low", "high")) or name.endswith(("_low", "_high"))
    return name not in _NOT_COMPARED and not ends


def _keys(one: pandas.DataFrame, other: pandas.DataFrame) -> list[str]:
    from pandas.api.types import is_float_dtype

    def names_rows(column: str) -> bool:
        whole = all(not is_float_dtype(side[column]) or (side[column].dropna() % 1 == 0).all() for side in (one, other))
        return column in other and whole and _compared(column) and not column.startswith("above_")

    keys = [str(column) for column in one if column in other and names_rows(str(column))]

    def told_apart(columns: list[str]) -> int:
        return sum(len(side[columns].drop_duplicates()) if columns else 1 for side in (one, other))

    most = told_apart(keys)
    for column in reversed(keys.copy()):
        rest = [key for key in keys if key != column]
        if told_apart(rest) == most:
            keys = rest
    return keys


def _numbered(frame: pandas.DataFrame, keys: list[str]) -> pandas.DataFrame:
    """Rows that the keys do not tell apart are counted."""
    return frame.assign(_number=frame.groupby(keys, dropna=False).cumcount() if keys else range(len(frame)))


def _differing(name: str, joined: pandas.DataFrame, keys: list[str], column: str) -> list[tuple[Any, ...]]:
    from pandas.api.types import is_numeric_dtype

    one, other = joined[column], joined[f"{column}_second"]
    numbers = is_numeric_dtype(one) and is_numeric_dtype(other)
    different = (one != other) & ~(one.isna() & other.isna())
    rows = []
    for place in joined.index[different]:
        row = " ".join(f"{key}={joined[key][place]}" for key in keys if joined[key].notna()[place])
        gap = float(other[place] - one[place]) if numbers else None
        rows.append((name, row, column, one[place], other[place], gap))
    return rows


def seconds(first: Path, second: Path) -> pandas.DataFrame:
    """Seconds and jobs of each stage in both runs."""
    sides = [by_stage(read_benchmarks(run / "results/benchmarks")).set_index("stage") for run in (first, second)]
    joined = sides[0][["jobs", "seconds"]].join(sides[1][["jobs", "seconds"]].add_suffix("_second"), how="outer")
    joined = joined.assign(difference=joined["seconds_second"] - joined["seconds"])
    return joined.sort_values("seconds", ascending=False, kind="stable").reset_index()
