"""The check that every setting of a schema moves what a stage writes, or is said not to."""

from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any

import pytest
from pydantic import BaseModel
from reprlab.runtime.errors import ReprlabError

Settings = Mapping[str, Any]
_NONE: Settings = MappingProxyType({})


def schemas_of(module: ModuleType) -> set[type[BaseModel]]:
    """The schemas that a module defines: a new one without a test fails."""
    found = (one for one in vars(module).values() if isinstance(one, type) and issubclass(one, BaseModel))
    return {one for one in found if one.__module__ == module.__name__}


def moved(
    schema: type[BaseModel],
    made: Callable[[dict[str, Any]], Any],
    base: Settings,
    changes: Settings,
    still: Settings,
    *,
    beside: Mapping[str, Settings] = _NONE,
    refused: Mapping[str, tuple[Any, str]] = MappingProxyType({}),
) -> Any:
    """Check that all settings of `schema` are named, that each of `changes` moves what `made` returns and is alone in
    it, that those of `still` do not, and that each of `refused`, a value and words of the error, is refused.

    Args:
        beside: for a setting that is read beside values of others alone, those values.

    Returns:
        what `made` makes of `base`.
    """
    assert {*changes, *still, *refused} == set(schema.model_fields), "a setting has no change in this test"
    first = made({**base})
    assert made({**base}) == first, "the same settings give the same"
    for name, value in changes.items():
        given = {**base, **beside.get(name, {})}
        before = made(given) if name in beside else first
        assert made({**given, name: value}) != before, f"{name} moves nothing"
    if still:
        assert made({**base, **still}) == first, f"one of {', '.join(still)} moves something"
    for name, (value, words) in refused.items():
        with pytest.raises(ReprlabError, match=words):
            made({**base, **beside.get(name, {}), name: value})
    return first
