"""The words of verdicts on the page: a colour, a sign that is told apart without it, and what each means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reprlab.reporting.audit import VERDICTS as AUDIT
from reprlab.reporting.claims import VERDICTS as CLAIMS
from reprlab.reporting.neighbours import AHEAD, BEHIND, LEVEL, NOT_TOLD_APART
from reprlab.reporting.neighbours import VERDICTS as NEIGHBOURS
from reprlab.reporting.page.html import Html, join, tag

KINDS = ("trivial", "untrained")
STANDING = ("above the trivial", "not above the trivial", "above the untrained", "not above the untrained")
_WORDS = {
    "supported": (
        "good",
        "✓",
        "all of the interval lies where the rule wants it; the rule was written before the number",
    ),
    "not supported": ("bad", "✗", "none of the interval lies where the rule wants it"),
    "inconclusive": ("open", "?", "some of the interval lies there and some does not, or there is none: no decision"),
    "not testable at this scale": (
        "none",
        "–",
        "reported, not judged: at this scale it would say nothing; the note says why",
    ),
    "agrees": ("good", "✓", "what is printed follows from the paper's own numbers, its code or the definition"),
    "differs": ("bad", "≠", "what is printed is not what these give; this is about the paper, not about this run"),
    "not checkable": ("none", "–", "what would be needed is not published"),
    AHEAD: ("good", "▲", "the whole interval of the difference is on the better side of 0"),
    BEHIND: ("bad", "▽", "all of it is on the worse side of 0"),
    LEVEL: ("open", "=", "all of it is inside a margin that matters to nobody, whichever side of 0 it is on"),
    NOT_TOLD_APART: ("open", "?", "none of these, or there is no interval"),
    "above the trivial": ("good", "✓", "above the hardest of the baselines that need no model, by more than chance"),
    "not above the trivial": ("bad", "✗", "it is not, so the row says nothing about the method"),
    "above the untrained": ("good", "▲", "above the same model without training, by more than chance"),
    "not above the untrained": ("bad", "▽", "it is not, so what the row shows was there before training"),
}
_SOME = "above with "


def flag(row: Mapping[str, Any], kind: str, name: str = "") -> str:
    """The word of a row's flag `above_<kind>` (of a column, where there are several); "" where it has none."""
    found = row.get(f"above_{kind}_{name}" if name else f"above_{kind}")
    if isinstance(found, str) and found.startswith(_SOME):
        return found
    return f"{found} the {kind}" if found in ("above", "not above") else ""


def known(word: object) -> bool:
    """Whether a cell is a verdict."""
    return isinstance(word, str) and (word in _WORDS or word.startswith(_SOME))


def _look(name: str) -> tuple[str, str, str]:
    return ("open", "✓", "so with some seeds only") if name.startswith(_SOME) else _WORDS[name]


def chip(name: str, text: str = "") -> Html:
    """A verdict as a coloured word with its sign; its meaning is the tooltip."""
    kind, sign, meaning = _look(name)
    return tag("span", tag("b", sign, aria_hidden="true"), " ", text or name, class_=f"chip {kind}", title=meaning)


def mark(name: str) -> Html:
    """A verdict as its sign alone, with the word for screen readers."""
    kind, sign, _ = _look(name)
    hidden = tag("span", f" {name}", class_="hidden")
    return tag("span", tag("b", sign, aria_hidden="true"), hidden, class_=f"mark {kind}", title=name)


def reference(name: str, text: str, link: str, title: str) -> Html:
    """A small chip that leads to what it judges."""
    kind, sign, _ = _look(name)
    said = tag("span", f" {name}: {title}", class_="hidden")
    return tag(
        "a", tag("b", sign, aria_hidden="true"), text, said, class_=f"chip {kind}", href=link, title=f"{name}: {title}"
    )


def counts(found: Mapping[str, int], names: Iterable[str]) -> Html:
    """How often each verdict was given; those that never were are left out."""
    return join([tag("li", chip(name, f"{found[name]} {name}")) for name in names if found.get(name)])


def legend(names: Iterable[str]) -> Html:
    """The meaning of the verdicts, where they are shown."""
    return tag("ul", [tag("li", chip(name), f" {_WORDS[name][2]}") for name in names], class_="legend")


ORDERS = {"claims": CLAIMS, "audit": AUDIT, "neighbours": NEIGHBOURS}
