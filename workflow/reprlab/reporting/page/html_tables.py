"""Tables of the page: what varies is in columns, what is the same in all rows above, intervals below values."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from reprlab.reporting.page.html import Html, join, tag
from reprlab.reporting.page.verdicts import KINDS, chip, flag, known, mark

if TYPE_CHECKING:
    import pandas

_DETAIL = re.compile(r"^(seed|seeds|n|n_used|steps|tokens|pretraining_tokens|train_rows|train_steps|.*_boot|std)$")
_COLUMNS, _ROWS = 10, 300
"""Rows that a table shows at once; the rest is a click or a file away."""
_LONG = 40
"""Characters from which a cell gets a wide column."""
_GROUPED = 100_000
"""Whole numbers from here on are written with commas."""


def table(
    frame: pandas.DataFrame, caption: str, id: str, *, fold: bool = True, cards: bool = False, marks: bool = True
) -> Html:
    """A table with its caption.

    `fold` takes what is the same in all rows out; `cards` are rows of narrow screens; `marks`: values have the signs of
    what they are above, which are left out where nothing was tested.
    """
    if not marks:
        frame = frame[[name for name in frame if not str(name).startswith("above_")]]
    columns, notes = _columns(frame) if fold else ([str(name) for name in frame], [])
    shown_rows = frame.head(_ROWS)
    if len(frame) > _ROWS:
        notes.append(f"The first {_ROWS} of {len(frame)} rows; the file has all.")
    details = _details(columns) if fold else set()
    notes = [*_data(frame, columns), *notes]
    head = tag("tr", [_head(frame, name, name in details) for name in columns])
    records: Any = shown_rows.to_dict("records")
    body = [tag("tr", [_cell(row, name, name in details, cards) for name in columns]) for row in records]
    attributes: dict[str, Any] = {"id": id, "class_": "cards" if cards else None, "data_details": bool(details)}
    grid = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body), **attributes)
    box = tag("div", grid, class_="scroll", tabindex="0", role="region", aria_label=caption)
    return join(tag("p", " ".join(notes), class_="same") if notes else None, box)


def _columns(frame: pandas.DataFrame) -> tuple[list[str], list[str]]:
    """The columns that are shown, and a sentence with what is the same in all rows."""
    names = [str(name) for name in frame]
    kept = [name for name in names if not _belongs(name, names)]
    if len(frame) < 2:
        return kept, []
    same = {name: shown(frame[name].iloc[0]) for name in kept if frame[name].nunique(dropna=False) == 1}
    said = "; ".join(f"{name} {value}" for name, value in same.items() if value)
    return [name for name in kept if name not in same], [f"In all rows: {said}."] if said else []


def _belongs(name: str, names: list[str]) -> bool:
    """Whether a column is shown with another one: its interval, its data, its verdict."""
    for part in ("low", "high", "data", "above_trivial", "above_untrained"):
        if name.startswith(f"{part}_") and name.removeprefix(f"{part}_") in names:
            return True
        if name.endswith(f"_{part}") and name.removesuffix(f"_{part}") in names:
            return True
    return name == "high" and "low" in names


def _details(columns: list[str]) -> set[str]:
    """Columns that are shown on request where there are many."""
    if len(columns) <= _COLUMNS:
        return set()
    details = {name for name in columns if _DETAIL.search(name)}
    first = [name for name in columns if name not in details and name != "note"]
    return details | set(first[_COLUMNS - 1 :])


def _data(frame: pandas.DataFrame, columns: list[str]) -> list[str]:
    """A sentence with the data that fill columns where the table says so, each once with all its columns."""
    filled: dict[str, list[str]] = {}
    for name in columns:
        for source in frame[f"data_{name}"].dropna().unique() if f"data_{name}" in frame else []:
            filled.setdefault(str(source), []).append(name)
    said = "; ".join(f"{', '.join(names)}: {source}" for source, names in filled.items() if source)
    return [f"Data: {said}."] if said else []


def _head(frame: pandas.DataFrame, name: str, detail: bool) -> Html:
    """A column's name, which may break at its underscores."""
    text = "interval" if name == "low" and "high" in frame else name
    parts = [(part, tag("wbr")) for part in re.split(r"(?<=_)", text)]
    return tag("th", tag("span", parts), scope="col", class_=_classes(detail))


def _classes(detail: bool, *more: str) -> str | None:
    return " ".join([*(["detail"] if detail else []), *(one for one in more if one)]) or None


def _cell(row: dict[str, Any], name: str, detail: bool, cards: bool) -> Html:
    value = row[name]
    label: dict[str, Any] = {"data_label": name} if cards else {}
    if isinstance(value, Html):
        return tag("td", value, class_=_classes(detail, f"c-{name}" if cards else ""), **label)
    if name.startswith("above_"):
        value = flag(row, name.removeprefix("above_")) or value
    if known(value):
        return tag("td", chip(value), class_=_classes(detail, f"c-{name}" if cards else ""), **label)
    text = shown(value)
    if name == "low" and "high" in row:
        return tag("td", interval(value, row["high"]), class_=_classes(detail, "number"), data_v=text or None)
    number = isinstance(value, int | float) and not isinstance(value, bool) and bool(text)
    under = _interval_of(row, name) if number else ""
    marks = [word for kind in KINDS if (word := flag(row, kind, name))]
    children = [text, *(part for word in marks for part in (" ", mark(word)))]
    exact = repr(value) if isinstance(value, float) and text not in ("", repr(value)) else None
    return tag(
        "td",
        children,
        tag("small", under) if under else None,
        class_=_classes(
            detail, "number" if number else "long" if len(text) > _LONG else "", f"c-{name}" if cards else ""
        ),
        title=exact,
        data_v=text if number and len(children) + bool(under) > 1 else None,
        **label,
    )


def _interval_of(row: dict[str, Any], name: str) -> str:
    for low, high in ((f"low_{name}", f"high_{name}"), (f"{name}_low", f"{name}_high")):
        if low in row and high in row:
            return interval(row[low], row[high])
    return ""


def interval(low: object, high: object) -> str:
    """Two ends in brackets; nothing where one is missing."""
    ends = shown(low), shown(high)
    return f"[{', '.join(ends)}]" if all(ends) else ""


def shown(value: object) -> str:
    """A value as the page prints it; missing values are empty."""
    import pandas

    if value is None or value is pandas.NA:
        return ""
    if isinstance(value, int) and abs(value) >= _GROUPED:
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return ""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}" if abs(value) >= _GROUPED else f"{int(value)}"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.4g}"
