"""Texts of data in pages of Markdown."""

from __future__ import annotations

import re

_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")


def plain(text: str) -> str:
    """A text as one line of Markdown that stands for itself: no heading, link, picture, formula or HTML comes of it."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", " ".join(text.split()))
