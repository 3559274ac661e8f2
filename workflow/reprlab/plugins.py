"""Modules chosen by a name in the config: readers, ways to merge, objectives, papers.

This is the one place that imports by name. The rule that runs a stage names the same module to `code_digest`, so that
an edit of one reader reruns only the data sets that it reads.
"""

import importlib
from pathlib import Path
from types import ModuleType

from reprlab.runtime.errors import ReprlabError

GROUPS = ("data.readers", "models.merges", "objectives", "papers")


def load_plugin(group: str, name: str) -> ModuleType:
    """Import `reprlab.<group>.<name>`; a paper is named by its slug.

    Raises:
        ReprlabError: there is no such module.
    """
    name = name.replace("-", "_")
    if group not in GROUPS or not all(part.isidentifier() for part in name.split(".")):
        raise ReprlabError(f"{group}.{name}: not a name of a module that the workflow may load")
    module = f"reprlab.{group}.{name}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ReprlabError(f"{name}: there is no module {module}") from None


def has_plugin(group: str, name: str) -> bool:
    """Whether there is a module `reprlab.<group>.<name>`."""
    parts = f"{group}.{name.replace('-', '_')}".split(".")
    return Path(__file__).parent.joinpath(*parts).with_suffix(".py").is_file()
