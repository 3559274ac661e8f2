"""Origins of data: one small module each, through the registry's own client."""

from collections.abc import Collection
from pathlib import Path

from reprlab.data.origins import debian, github, hub, local, npm, pypi, web
from reprlab.data.origins.errors import OriginError
from reprlab.registry.dataset_entries import ArchiveFile


def fetch(origin: str, file: ArchiveFile, folder: Path) -> Path:
    """Bring `file` from `origin` ("scheme:specification") into `folder` and return its path. It is not yet verified.

    Raises:
        OriginError: the origin cannot be used or reached; the message is the reason alone.
    """
    scheme, _, spec = origin.partition(":")
    if file.rows and scheme not in ("hub", "local"):
        raise OriginError("the first rows of a file are taken from the hub or from this machine")
    match scheme:
        case "pypi":
            return pypi.fetch(spec, file, folder)
        case "debian":
            return debian.fetch(spec, file, folder)
        case "npm":
            return npm.fetch(spec, file, folder)
        case "hub":
            return hub.fetch(spec, file, folder)
        case "github":
            return github.fetch(spec, file, folder)
        case "local":
            return local.fetch(spec, file, folder)
        case "web":
            return web.fetch(spec, file, folder)
    raise OriginError(f"unknown origin {scheme!r}")


def unlisted(origin: str, file: ArchiveFile, listed: Collection[str]) -> str:
    """The file of the origin with which a split goes on behind `file`, where it is not among those listed; else empty.

    Raises:
        OriginError: the origin does not say.
    """
    scheme, _, spec = origin.partition(":")
    return hub.unlisted(spec, file, listed) if scheme == "hub" and not file.rows else ""
