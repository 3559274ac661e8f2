"""Modules of the audio extra, which this concept alone needs."""

import importlib
from typing import Any

from reprlab.runtime.errors import ReprlabError, first_line


def extra_module(name: str) -> Any:
    """A module of the audio extra.

    Raises:
        ReprlabError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ReprlabError(
            f"{name.partition('.')[0]} cannot be imported ({first_line(error)}): `make setup EXTRAS=audio` installs "
            "what music-video-description needs, and needs a C compiler"
        ) from None
