"""What all runs share beside their sealed results: computations that cost much, kept under what decided them.

A kept value lies in a file named by a digest of everything that it follows from (inputs, code, versions), which stands
in the file beside a checksum. A file that was cut off, edited, or put in the place of another is not used: the value is
made again, and a line of the log says so. `docs/reliability.md` lists what is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprlab.artifacts.json_files import write_json
from reprlab.runtime.code_digest import digest_of_modules, imported_modules
from reprlab.runtime.log import get_logger
from reprlab.runtime.versions import distributions, versions_of


@dataclass(frozen=True)
class Kept:
    """Values of one kind in a folder."""

    folder: Path
    kind: str
    """What a value is, for messages."""

    def place(self, by: Mapping[str, Any]) -> Path:
        """Where the value lies that follows from `by`, a mapping that JSON can hold."""
        return self.folder / f"{_digest(dict(by))}.json"

    def read(self, by: Mapping[str, Any]) -> Any | None:
        """The value that follows from `by`; None where none is kept, or not as it was written."""
        place = self.place(by)
        try:
            text = place.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError):
            text = ""
        value = _checked(text, by)
        if value is None:
            get_logger().warning("%s: %s that is damaged or was edited; made again", place, self.kind)
        return value

    def keep(self, by: Mapping[str, Any], value: Any) -> None:
        """Keep a value that JSON can hold.

        Raises:
            ReprlabError: the disk is full, or the folder cannot be written.
        """
        held = {"by": dict(by), "value": value}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.place(by), {**held, "sha256": _digest(held)})


def made_by(module: str) -> dict[str, Any]:
    """What decides a computation beside its inputs: the code that `module` imports, itself included, and the versions
    of the packages that this code is built on."""
    modules = imported_modules(module)
    return {"code": digest_of_modules(modules), "versions": versions_of(distributions(modules))}


def _checked(text: str, by: Mapping[str, Any]) -> Any | None:
    """The value in the text of a file; None where the text is not what was written of this value."""
    try:
        found = json.loads(text)
        whole = found["sha256"] == _digest({"by": found["by"], "value": found["value"]})
        return found["value"] if whole and _digest(found["by"]) == _digest(dict(by)) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
