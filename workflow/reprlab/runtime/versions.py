"""Versions of Python and of the packages that results depend on."""

import functools
import platform
from collections.abc import Mapping
from importlib import metadata

_PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "numpy",
    "pandas",
    "pyarrow",
    "scikit-learn",
    "scipy",
    "nltk",
    "rouge-score",
    "matplotlib",
    "pydantic",
)


@functools.cache
def installed() -> Mapping[str, str]:
    """Python and the packages that results depend on, as installed."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def others(versions: Mapping[str, str]) -> dict[str, str]:
    """Those of `versions` that are not the installed ones."""
    now = installed()
    return {name: version for name, version in versions.items() if now.get(name) != version}
