"""Guard of imports from the audio extra, which this concept alone needs."""

from collections.abc import Iterator
from contextlib import contextmanager

from reprlab.runtime.errors import ReprlabError, first_line


@contextmanager
def audio_extra() -> Iterator[None]:
    """Import modules of the audio extra within it.

    Raises:
        ReprlabError: one is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ReprlabError(
            f"{(error.name or 'a module').partition('.')[0]} cannot be imported ({first_line(error)}): `make setup "
            "EXTRAS=audio` installs what music-video-description needs, and needs a C compiler"
        ) from None
