"""Versions of Python and of the distributions that results depend on, found from what their code imports."""

import functools
import json
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from reprlab.runtime.code_digest import imported_packages
from reprlab.runtime.kept_digests import KeptDigests

PYTHON = "python"
# To look through all that is installed takes half a second of each start. Another set of distributions, or another
# version of one, is another list of their folders.
_KEPT = KeptDigests(
    Path(__file__).parent / "__pycache__" / f"versions.{sys.implementation.cache_tag}.json", Path(__file__).read_bytes()
)


def distributions(modules: Iterable[str]) -> tuple[str, ...]:
    """The installed distributions that modules of the package import by any statement, with all that these require."""
    known = _distributions_of()
    return tuple(sorted({one for package in imported_packages(modules) for one in known.get(package, ())}))


def versions_of(names: Iterable[str]) -> dict[str, str]:
    """Python and these distributions, as installed; what is not installed is left out."""
    return {PYTHON: version_of(PYTHON)} | {name: version for name in names if (version := version_of(name))}


@functools.cache
def version_of(name: str) -> str:
    """The version of Python or of a distribution; "" where it is not installed."""
    try:
        return platform.python_version() if name == PYTHON else metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def others(versions: Mapping[str, str]) -> dict[str, str]:
    """Those of `versions` that are not the installed ones."""
    return {name: version for name, version in versions.items() if version_of(name) != version}


@functools.cache
def _distributions_of() -> dict[str, list[str]]:
    """The distributions behind each name that can be imported, and behind those."""
    folders = (Path(entry) for entry in sys.path if entry)
    names = sorted(str(path) for folder in folders for path in folder.glob("*.*-info"))
    _, found = _KEPT.of("distributions", "\n".join(names).encode(), lambda: ([], json.dumps(_look_through())))
    _KEPT.save()
    return json.loads(found)


def _look_through() -> dict[str, list[str]]:
    from packaging.requirements import InvalidRequirement, Requirement

    def name_of(text: str) -> str:
        return re.sub(r"[-_.]+", "-", text).lower()

    installed = {name_of(one.metadata["Name"]): one for one in metadata.distributions() if one.metadata["Name"]}

    @functools.cache
    def required(name: str) -> list[str]:
        found = []
        for text in installed[name].requires or []:
            try:
                one = Requirement(text)
            except InvalidRequirement:
                continue
            if one.marker is None or one.marker.evaluate({"extra": ""}):
                found.append(name_of(one.name))
        return [one for one in found if one in installed]

    def behind(names: Iterable[str]) -> list[str]:
        waiting, seen = [name_of(name) for name in names], set()
        while waiting:
            name = waiting.pop()
            if name not in seen and name in installed:
                seen.add(name)
                waiting += required(name)
        return sorted(seen)

    return {package: behind(names) for package, names in metadata.packages_distributions().items()}
