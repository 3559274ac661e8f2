"""Tables of the page: scrolling inside their box, verdicts as coloured words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from reprlab.reporting.page.html import Html, join, tag

if TYPE_CHECKING:
    import pandas

_VERDICTS = {
    "agrees": "good",
    "supported": "good",
    "learned": "good",
    "differs": "bad",
    "not supported": "bad",
    "not learned": "bad",
    "inconclusive": "open",
    "not checkable": "none",
    "not testable at this scale": "none",
}
_DETAIL = re.compile(r"(^|_)(low|high)($|_)|^(seed|n|steps|tokens|pretraining_tokens|data_.*)$")
_ALWAYS = {"low", "high"}
_LONG = 40
"""Characters from which a cell gets a wide column."""


def table(frame: pandas.DataFrame, caption: str, id: str) -> Html:
    """A table with caption. Intervals and counts are shown on request where there are many columns."""
    names = [str(name) for name in frame]
    details = (
        {name for name in names if _DETAIL.search(name) and name not in _ALWAYS} if len(frame.columns) > 11 else set()
    )
    head = tag("tr", [_head(frame, name, name in details) for name in names])
    body = [
        tag("tr", [_cell(value, name in details) for name, value in zip(names, row, strict=True)])
        for row in frame.itertuples(index=False, name=None)
    ]
    box = tag(
        "div",
        tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body), id=id),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )
    if not details:
        return box
    return join(
        tag("button", "Show all columns", type="button", data_table=id, aria_expanded="false", hidden=True), box
    )


def _head(frame: pandas.DataFrame, name: str, detail: bool) -> Html:
    """A column's name, and below it the data that fills it where the table says so."""
    sources: Iterable[str] = frame[f"data_{name}"].dropna().unique() if f"data_{name}" in frame else []
    named = [tag("small", source) for source in sources if source]
    return tag("th", name, named, scope="col", class_="detail" if detail else None)


def verdict(name: str, text: str = "") -> Html:
    """A verdict as coloured text; the words themselves say it."""
    return tag("span", text or name, class_=f"verdict {_VERDICTS[name]}")


def _cell(value: object, detail: bool) -> Html:
    classes = ["detail"] if detail else []
    if isinstance(value, str) and value in _VERDICTS:
        return tag("td", verdict(value), class_=" ".join(classes) or None)
    text = shown(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and text:
        classes.append("number")
    elif len(text) > _LONG:
        classes.append("long")
    exact = repr(value) if isinstance(value, float) and text not in ("", repr(value)) else None
    return tag("td", text, class_=" ".join(classes) or None, title=exact)


def shown(value: object) -> str:
    """A value as the page prints it; missing values are empty."""
    import pandas

    if value is None or value is pandas.NA:
        return ""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return ""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value)}"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.4g}"
