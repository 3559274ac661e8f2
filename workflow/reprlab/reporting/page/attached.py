"""Files that travel inside the page, so that the page alone has no dead link."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from reprlab.reporting.page.html import Html, tag

LARGEST = 300_000
"""Bytes of a file that travels inside; a larger one is named."""
_KINDS = {".tsv": "text/tab-separated-values", ".json": "application/json", ".yaml": "application/yaml"}


def attached(path: Path, base: Path, text: str = "") -> Html:
    """A link that saves the file, which lies in the link itself; only its name where it is large or of another kind.

    Args:
        path: the file; one that does not exist gives nothing.
        base: the folder that its name is given from.
        text: the words of the link, in place of the name.
    """
    if not path.is_file():
        return Html("")
    kind = _KINDS.get(path.suffix)
    if kind is None or path.stat().st_size > LARGEST:
        return tag("code", os.path.relpath(path, base))
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return tag("a", text or path.name, href=Html(f"data:{kind};base64,{data}"), download=path.name)
