"""HTML by functions: everything that is not `Html` already is escaped."""

from __future__ import annotations

import html

_VOID = {"meta", "img", "br", "hr", "input", "wbr"}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """An element. `class_` loses its underscore, other underscores become hyphens; None and False drop out."""
    pairs = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{html.escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{pairs}>")
    return Html(f"<{name}{pairs}>{join(*children)}</{name}>")


def join(*children: object) -> Html:
    """Children side by side; lists are flattened, None drops out, plain values are escaped."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, list | tuple):
            parts.append(join(*child))
        else:
            parts.append(child if isinstance(child, Html) else html.escape(str(child), quote=False))
    return Html("".join(parts))


def heading(level: str, title: str, id: str) -> Html:
    """A heading that can be linked to, and that leads to itself."""
    return tag(level, title, tag("a", "#", href=f"#{id}", class_="self", aria_label=f"Link to {title}"), id=id)
