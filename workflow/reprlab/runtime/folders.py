"""Folders of a run that the environment names, and those that no run can work in."""

import os
from pathlib import Path

from reprlab.runtime.errors import ReprlabError

CACHE_VARIABLE = "REPRLAB_CACHE"


def download_cache(checkout: Path) -> Path:
    """The folder of downloads: what REPRLAB_CACHE names, else `resources/downloads` of the checkout."""
    return Path(os.environ.get(CACHE_VARIABLE) or checkout / "resources/downloads").expanduser().resolve()


def require_importable(folder: Path) -> None:
    """Refuse a folder below which Python would not find this project's code, and would take an installed copy's.

    Raises:
        ReprlabError: its path holds the character that separates the folders of PYTHONPATH.
    """
    if os.pathsep in str(folder):
        raise ReprlabError(f"{folder}: Python cannot import from a path with {os.pathsep!r}; move or rename the folder")
