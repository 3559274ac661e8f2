"""Which settings of a paper its plan reads, found in one plan: each attribute that is read, and each group that is
written down as a whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel

Path = tuple[str, ...]


def groups(value: Any, path: Path = ()) -> Iterator[tuple[Path, BaseModel]]:
    """Every group of settings with its path."""
    if isinstance(value, BaseModel):
        yield path, value
        value = {name: value.__dict__[name] for name in type(value).model_fields}
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from groups(inner, (*path, str(name)))
    if isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from groups(inner, (*path, str(place)))


def unread(settings: BaseModel, leaves: list[Path], read: set[Path]) -> list[str]:
    """Names of the leaves whose group did not give them away."""
    known = {path for path, _ in groups(settings)}
    nearest = {leaf: max(k for k in range(len(leaf)) if leaf[:k] in known) for leaf in leaves}
    return sorted(".".join(leaf) for leaf, k in nearest.items() if leaf[: k + 1] not in read)


@contextmanager
def watching(settings: BaseModel) -> Iterator[set[Path]]:
    """The paths that are read meanwhile, of leaves and of groups."""
    places = {id(group): path for path, group in groups(settings)}
    read: set[Path] = set()
    original = {name: getattr(BaseModel, name) for name in ("model_dump", "model_dump_json", "model_copy")}

    def attribute(self: BaseModel, name: str) -> Any:
        found = object.__getattribute__(self, name)
        if id(self) in places and name in type(self).model_fields:
            read.add((*places[id(self)], name))
        return found

    def whole(self: Any) -> None:
        for _, group in groups(self):
            if id(group) in places:
                read.update((*places[id(group)], name) for name in type(group).model_fields)

    def marking(name: str) -> Any:
        def method(self: BaseModel, *args: Any, **options: Any) -> Any:
            whole(self)
            return original[name](self, *args, **options)

        return method

    BaseModel.__getattribute__ = attribute  # type: ignore[method-assign]
    for name in original:
        setattr(BaseModel, name, marking(name))
    try:
        yield read
    finally:
        del BaseModel.__getattribute__
        for name, method in original.items():
            setattr(BaseModel, name, method)
