"""One file of a GitHub repository at a pinned commit: from a local mirror, otherwise over https with resume."""

import os
import re
import shutil
import urllib.parse
from pathlib import Path

from reprlab.data.origins.errors import OriginError
from reprlab.data.origins.http_files import download
from reprlab.registry.dataset_entries import ArchiveFile

MIRROR_VARIABLE = "REPRLAB_MIRROR"
ADDRESS = "https://raw.githubusercontent.com/{owner}/{name}/{commit}/{path}"
_SPEC = re.compile(r"^(?P<owner>[\w-]+)/(?P<name>[\w.-]+)@(?P<commit>[0-9a-f]{40})(:(?P<path>.+))?$")


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Bring `spec` ("owner/name@commit" or "owner/name@commit:path") into `folder`.

    The folder named by the environment variable REPRLAB_MIRROR, laid out `github/<owner>/<name>/<path>`, is looked in
    first.
    """
    match = _SPEC.match(spec)
    if not match:
        raise OriginError(f"{spec!r} is not owner/name@commit")
    path = match["path"] or file.file
    target = folder / file.stored
    mirror = os.environ.get(MIRROR_VARIABLE)
    missing = ""
    if mirror:
        copy = Path(mirror).expanduser() / "github" / match["owner"] / match["name"] / path
        if copy.is_file():
            shutil.copyfile(copy, target)
            return target
        missing = f"{copy} is not in the mirror, and "
    address = ADDRESS.format(
        owner=match["owner"], name=match["name"], commit=match["commit"], path=urllib.parse.quote(path)
    )
    try:
        download(address, target, file.bytes)
    except OriginError as error:
        raise OriginError(f"{missing}{error}") from None
    return target
