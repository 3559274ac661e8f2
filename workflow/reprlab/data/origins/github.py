"""One file of a GitHub repository at a pinned commit: from a local mirror, otherwise over https with resume."""

import http.client
import os
import re
import shutil
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from reprlab.data.origins.errors import OriginError
from reprlab.registry.dataset_entries import ArchiveFile

MIRROR_VARIABLE = "REPRLAB_MIRROR"
ADDRESS = "https://raw.githubusercontent.com/{owner}/{name}/{commit}/{path}"
TIMEOUT_SECONDS = 60
_BLOCK = 2**20
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
        _download(address, target, file.bytes)
    except OriginError as error:
        raise OriginError(f"{missing}{error}") from None
    return target


def _download(address: str, target: Path, size: int | None) -> None:
    partial = target.with_name(target.name + ".partial")
    have = partial.stat().st_size if partial.exists() else 0
    if size is None or have >= size:
        # Without a known size there is no telling whether the rest is missing: start again.
        partial.unlink(missing_ok=True)
        have = 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            start = have if answer.status == 206 else 0
            size = _announced(answer, start, size)
            with partial.open("ab" if start else "wb") as output:
                # No byte beyond the announced ones is taken, however many the server has.
                while start < size and (block := answer.read(min(_BLOCK, size - start))):
                    output.write(block)
                    start += len(block)
    except urllib.error.HTTPError as error:
        raise OriginError(f"the server answered {error.code} {error.reason}") from None
    except (urllib.error.URLError, TimeoutError, OSError, http.client.HTTPException) as error:
        raise OriginError(f"not reachable ({getattr(error, 'reason', None) or error})") from None
    if start < size:
        raise OriginError(f"the connection ended after {start} of {size} bytes; run again to resume")
    partial.replace(target)


def _announced(answer: Any, start: int, size: int | None) -> int:
    """Bytes of the whole file: what the server announces, which must be what the registry says, where it does."""
    if "Content-Encoding" in answer.headers:
        raise OriginError(f"the server sends it in the encoding {answer.headers['Content-Encoding']}")
    length = answer.headers.get("Content-Length", "")
    if not length.isdigit():
        if size is None:
            raise OriginError("the server does not say how long it is, so that one cut off could not be told from it")
        return size
    announced = start + int(length)
    if size is not None and announced != size:
        raise OriginError(f"the server's file has {announced} bytes instead of {size}")
    return announced
