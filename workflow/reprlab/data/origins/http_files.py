"""One file over http, resumed where an earlier download broke off and the size is known."""

import http.client
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from reprlab.data.origins.errors import OriginError

TIMEOUT_SECONDS = 60
_BLOCK = 2**20


def download(address: str, target: Path, size: int | None) -> None:
    """Bring the file at `address` to `target`; `size` is in bytes, where it is known.

    Raises:
        OriginError: the server cannot be reached, has no such file, or another number of bytes.
    """
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
