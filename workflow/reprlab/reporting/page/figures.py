"""A paper's figures: the picture inside the page, and in words what is seen."""

from __future__ import annotations

import base64
import html
import re

from reprlab.reporting.page.folder import PaperFolder
from reprlab.reporting.page.html import Html, tag

_WORDS = re.compile(r"<dc:description>(.*?)</dc:description>", re.DOTALL)
_WIDTH = re.compile(rb'<svg[^>]* width="([0-9.]+)pt"')
_WIDE = 520
"""Points from which a figure has a row to itself."""
_ALTERNATIVE = 400
"""Characters of an alternative text; the rest is below the figure."""


def figures(paper: PaperFolder) -> Html | None:
    """All figures that were drawn."""
    drawn = [_figure(paper, name, caption) for name, caption in paper.figures.items()]
    found = [figure for figure in drawn if figure is not None]
    return tag("div", found, class_="figures") if found else None


def _figure(paper: PaperFolder, name: str, caption: str) -> Html | None:
    path = paper.path(name, "svg")
    if not path.exists():
        return None
    content = path.read_bytes()
    wide = _WIDTH.search(content)
    words = _WORDS.search(content.decode("utf-8"))
    lines = html.unescape(words[1]).split("\n") if words else []
    said = " ".join([caption, *lines])
    short = said if len(said) <= _ALTERNATIVE else said[:_ALTERNATIVE].rpartition(";")[0] + " and more, in words below."
    data = base64.b64encode(content).decode("ascii")
    id = f"{paper.slug}-figure-{name}"
    told = tag("details", tag("summary", "In words"), tag("ul", [tag("li", line) for line in lines]), class_="words")
    return tag(
        "figure",
        tag("img", src=Html(f"data:image/svg+xml;base64,{data}"), alt=short, loading="lazy"),
        tag("figcaption", caption, tag("a", "#", href=f"#{id}", class_="self", aria_label="Link to this figure")),
        told if lines else None,
        id=id,
        data_file=f"{name}.svg",
        class_="wide" if wide and float(wide[1]) > _WIDE else None,
    )
