"""Findings about source files, kept on disk by content (standard library only: it is planning code)."""

import contextlib
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import write_text

Found = tuple[list[str], str]
# One of each edit: after this many, those of the code as it is are kept alone.
_MOST = 5_000


class KeptDigests:
    """Names and a digest for each file's content.

    A file that cannot be read, or is not what was written, holds nothing; one that cannot be written stays as it is.
    """

    def __init__(self, path: Path, version: bytes) -> None:
        """Kept in `path`; what another `version` of the finding code found does not count."""
        self._path, self._version = path, version
        self._kept: dict[str, Found] | None = None
        self._used: dict[str, Found] = {}
        self._grown = False

    def of(self, name: str, content: bytes, find: Callable[[], Found]) -> Found:
        """The finding of `find` in the file of this name and content; from disk, if it was found there before."""
        if self._kept is None:
            self._kept = self._read()
        key = hashlib.sha256(b"\0".join((self._version, name.encode(), content))).hexdigest()
        found = self._kept.get(key)
        if found is None:
            found, self._grown = find(), True
        self._kept[key] = self._used[key] = found
        return found

    def save(self) -> None:
        """Write what was found since the file was read."""
        if not self._grown or self._kept is None:
            return
        # Another process may have written meanwhile: what it found is lost, and found again.
        body = json.dumps(self._kept if len(self._kept) <= _MOST else self._used)
        # One that writes at the same moment takes this one's unfinished file away; nothing depends on either.
        with contextlib.suppress(OSError, ReprlabError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_text(self._path, f"{_seal(body)}\n{body}")
        self._grown = False

    def _read(self) -> dict[str, Found]:
        try:
            seal, _, body = self._path.read_text(encoding="utf-8").partition("\n")
        except (OSError, UnicodeDecodeError):
            return {}
        return (
            {key: (names, digest) for key, (names, digest) in json.loads(body).items()} if seal == _seal(body) else {}
        )


def _seal(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()
