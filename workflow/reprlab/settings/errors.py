"""One line for each mistake in the settings: key, value, place, what is wrong, and the nearest valid name."""

from __future__ import annotations

import difflib
import re
import types
import typing
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from reprlab.runtime.errors import ReprlabError
from reprlab.settings.descriptions import description

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reprlab.settings.overrides import Merged
    from reprlab.settings.yaml_text import Key

_NEAR = 0.5
_SHORT_LIST = 15
_NAME_RULE = "must be a name of small letters, digits and `_`"


def nearest(name: str, valid: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or the list of valid names where none is near and the list is short.

    Of a name such as glue_mnli a part is enough: mnlii is nearer to it than to xnli_vi.
    """
    names = sorted(valid)
    close: list[str] = []
    best = _NEAR
    for known in names:
        likeness = _likeness(str(name), known, best)
        if likeness >= best:
            close = [*close, known] if likeness == best else [known]
            best = likeness
    if close:
        return f"; did you mean {' or '.join(map(repr, close[:3]))}?"
    return f"; known: {', '.join(names)}" if 0 < len(names) <= _SHORT_LIST else ""


def _likeness(name: str, known: str, least: float) -> float:
    """From 0 to 1; 0 where the bounds say that it is below `least`."""
    parts = known.split("_") if "/" not in known else []
    tails = ["_".join(parts[place:]) for place in range(1, len(parts))]
    # A part counts a little less than a whole name, and a short one says nothing.
    partial = [_ratio(name, part, least, 0.9) for part in {*parts, *tails} if len(part) > 3 and len(name) > 3]
    return max([_ratio(name, known, least), *partial])


def _ratio(first: str, second: str, least: float, weight: float = 1.0) -> float:
    matcher = difflib.SequenceMatcher(None, first, second)
    # Two bounds that cost little: a registry has hundreds of names, and few are near.
    if weight * matcher.real_quick_ratio() < least or weight * matcher.quick_ratio() < least:
        return 0.0
    return weight * matcher.ratio()


def setting_error(path: Key, value: Any, place: str, problem: str) -> ReprlabError:
    """The one line for the setting at `path`."""
    return ReprlabError(" ".join(f"{'.'.join(path)} = {_shown(value)} ({place}): {problem}".split()))


def unknown_key(
    path: Key, value: Any, place: str, valid: Iterable[str], what: str = "key", elsewhere: str = ""
) -> ReprlabError:
    """The one line for a key that does not exist; `elsewhere` is where a key of this name does."""
    hint = f"; did you mean {elsewhere!r}?" if elsewhere else nearest(path[-1], valid)
    return setting_error(path, value, place, f"unknown {what}{hint}")


def registry_error(error: ValidationError, registry: Any, where: str) -> ReprlabError:
    """The line for the first problem of a registry, or of the options of a reader; `where` names the file."""
    problems = error.errors(include_url=False)
    problem = next((item for item in problems if item["type"] == "extra_forbidden"), problems[0])
    location = tuple(str(part) for part in problem["loc"])
    path = f"{where}{'.'.join(location)}"
    if problem["type"] == "extra_forbidden":
        return ReprlabError(f"{path}: unknown key{nearest(location[-1], _keys(registry, location[:-1]))}")
    return ReprlabError(f"{path}: {problem['msg']} (got {str(problem.get('input'))[:80]!r})")


def validation_error(error: ValidationError, model: type[BaseModel], merged: Merged, prefix: Key) -> ReprlabError:
    """The line for the first problem in `error`; `prefix` is the dotted path of `model` in the config."""
    problems = error.errors(include_url=False)
    # An unknown key is the likelier cause of what else is wrong, such as a missing one.
    problem = next((item for item in problems if item["type"] == "extra_forbidden"), problems[0])
    location = tuple(str(part) for part in problem["loc"] if part != "[key]")
    path = (*prefix, *location)
    place = merged.place(location)
    if problem["type"] == "extra_forbidden":
        known, elsewhere = _keys(model, location[:-1]), _below(model, location)
        return unknown_key(path, problem["input"], place, known, elsewhere=elsewhere)
    if problem["type"] == "missing":
        return _missing(problems, model, merged, prefix, location)
    if isinstance(problem["input"], dict) and problem["type"] == "value_error":
        return ReprlabError(f"{'.'.join(path)} ({place}): {_message(problem)}")
    hint = _near_choice(problem) if problem["type"] == "literal_error" else ""
    if problem["type"] == "string_pattern_mismatch":
        hint = _description(model, location)
    return setting_error(path, problem["input"], place, _message(problem) + hint)


def _missing(problems: list[Any], model: type[BaseModel], merged: Merged, prefix: Key, location: Key) -> ReprlabError:
    parent = location[:-1]
    if not parent or not holds_entries(model, parent[:-1]):
        keys = ".".join((*prefix, *location))
        return ReprlabError(f"{keys} is missing ({merged.place(parent) if parent else 'no file sets it'})")
    absent = ", ".join(str(item["loc"][-1]) for item in problems if item["type"] == "missing")
    siblings: Any = merged.values
    for part in parent[:-1]:
        siblings = siblings.get(part, {}) if isinstance(siblings, dict) else {}
    others = [name for name in siblings if name != parent[-1]] if isinstance(siblings, dict) else []
    hint = nearest(parent[-1], others) if parent else ""
    return ReprlabError(
        f"{'.'.join((*prefix, *parent))} ({merged.place(parent)}): no such entry{hint}"
        f"{'' if hint.endswith('?') else ';'} A new one must give {absent} too"
    )


def _message(problem: Any) -> str:
    if problem["type"] == "string_pattern_mismatch":
        pattern = problem["ctx"]["pattern"]
        return _NAME_RULE if pattern.startswith("^[a-z0-9][a-z0-9_]") else "not in the form that is allowed"
    if problem["type"] == "value_error":
        return str(problem["ctx"]["error"])
    if problem["type"] in {"model_type", "dict_type"}:
        return "must be a mapping of settings"
    return str(problem["msg"]).replace("Input should be", "must be").replace("Input should", "must")


def _near_choice(problem: Any) -> str:
    choices = [part.strip("'") for part in problem["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    hint = nearest(problem["input"], choices)
    return hint if hint.endswith("?") else ""  # the message lists the choices


def _description(model: type[BaseModel], location: Key) -> str:
    parent = _at(model, location[:-1])
    words = description(parent, location[-1]) if _is_model(parent) else ""
    return f" ({words.rstrip('.')})" if words else ""


def _shown(value: Any) -> str:
    text = repr(value)
    if "://" in text:
        # What an address has before its host or behind its path may be a key, and messages are kept in logs.
        text = re.sub(r"(?<=://)[^/@\s]*@", "***@", text)
        text = re.sub(r"([?#;])[^\s'\"]+", r"\1***", text)
    return text if len(text) <= 80 else text[:77] + "..."


def _below(model: type[BaseModel], location: Key) -> str:
    """The dotted path of a key of this name in a group beside it: `optimizer.weight_decay` for `weight_decay`."""
    parent = model_at(model, location[:-1])
    groups = {name: model_at(parent, (name,)) for name in parent.model_fields} if parent else {}
    found = [f"{name}.{location[-1]}" for name, group in groups.items() if group and location[-1] in group.model_fields]
    return found[0] if len(found) == 1 else ""


def _keys(model: Any, location: Key) -> list[str]:
    parent = _at(model, location)
    return list(parent.model_fields) if _is_model(parent) else []


def _at(model: Any, location: Key) -> Any:
    """The type of the setting at `location` below `model`."""
    annotation: Any = model
    for key in location:
        annotation = _step(annotation, key)
    return _plain(annotation)


def model_at(model: type[BaseModel], location: Key) -> type[BaseModel] | None:
    """The model of the group of settings at `location` below `model`; None where there is no group."""
    found = _at(model, location)
    return found if _is_model(found) else None


def groups_of(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model and all that its groups and entries are made of; one that is in several places comes as often."""
    yield model
    parts: list[Any] = [info.annotation for info in model.model_fields.values()]
    while parts:
        part = parts.pop()
        parts += typing.get_args(part)
        if _is_model(part):
            yield from groups_of(part)


def holds_entries(model: type[BaseModel], location: Key) -> bool:
    """Whether the setting at `location` is a mapping of entries by names of the user's choice."""
    return typing.get_origin(_at(model, location)) is dict


def _step(annotation: Any, key: str) -> Any:
    annotation = _plain(annotation)
    if _is_model(annotation):
        entry = annotation.model_fields.get(key)
        return entry.annotation if entry else None
    arguments = typing.get_args(annotation)
    return arguments[-1] if arguments else None


def _plain(annotation: Any) -> Any:
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        return next((_plain(member) for member in typing.get_args(annotation) if member is not type(None)), None)
    return annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
