"""Meanings of settings: the string below a field in the source, read on request.

pydantic's own `use_attribute_docstrings` reads the source of every model when it is imported, a sixth of what the
config costs at every start.
"""

import ast
import functools
import inspect
import itertools
import textwrap
from collections.abc import Mapping

from pydantic import BaseModel


def description(model: type[BaseModel], field: str) -> str:
    """The string below a field, in the class that defines it last; empty: there is none."""
    owner = next((one for one in model.__mro__ if field in inspect.get_annotations(one)), model)
    return _strings(owner).get(field, "")


@functools.cache
def _strings(model: type) -> Mapping[str, str]:
    try:
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    except (OSError, TypeError):  # made while the program runs
        return {}
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in itertools.pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
