"""The frame of every page: head, contents that stay in view, style, script, and the box that shows LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reprlab.reporting.page.html import Html, heading, tag
from reprlab.reporting.page.script import SCRIPT
from reprlab.reporting.page.style import STYLE

Section = tuple[str, str, Html]
"""Anchor, title and content of a part of the page."""


def section(id: str, title: str, *content: object) -> Section:
    """A part with its heading."""
    return id, title, tag("section", heading("h2", title, id), content, aria_labelledby=id)


def entry(id: str, title: str, below: Iterable[tuple[str, str]] = (), **attributes: str) -> Html:
    """A line of the contents, with the lines of its parts."""
    parts = [tag("li", tag("a", name, href=f"#{part}")) for part, name in below]
    return tag("li", tag("a", title, href=f"#{id}"), tag("ul", parts) if parts else None, **attributes)


def document(title: str, contents: Sequence[Html], header: Html, main: Iterable[Html]) -> str:
    """The page as one string that loads nothing."""
    menu = tag("details", tag("summary", "Contents"), tag("ul", contents), id="contents", open=True)
    colours = tag("button", "Dark colours", id="theme", type="button", hidden=True)
    said = "This file loads nothing from anywhere: files that it links to travel in it, other links lead to the papers."
    code = tag("textarea", readonly=True, aria_label="LaTeX")
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#content", class_="skip"),
        tag("nav", menu, colours, aria_label="Contents"),
        header,
        tag("main", list(main), id="content"),
        tag("footer", tag("p", said)),
        tag("dialog", tag("p", "The rows and columns that are shown, as LaTeX:"), code, id="latex"),
        tag("script", Html(SCRIPT)),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Html(STYLE)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"
