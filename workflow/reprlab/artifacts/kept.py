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
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger
from reprlab.runtime.versions import distributions, versions_of


@dataclass(frozen=True)
class Kept:
    """Values of one kind in a folder."""

    folder: Path
    kind: str
    """What a value is, for messages."""
    name: str = ""
    """File name where the folder has room for one value; what is kept there by something else is no damage."""
    remedy: str = ""
    """What to do where a damaged value cannot be made again by itself; empty: it can."""

    def place(self, by: Mapping[str, Any]) -> Path:
        """Where the value lies that follows from `by`, a mapping that JSON can hold."""
        return self.folder / (self.name or f"{_digest(dict(by))}.json")

    def read(self, by: Mapping[str, Any]) -> Any | None:
        """The value that follows from `by`; None where none is kept, or not as it was written.

        Raises:
            ReprlabError: it is not as it was written, and there is a `remedy`.
        """
        place = self.place(by)
        try:
            text = place.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError):
            text = ""
        found = _checked(text)
        if found and found["by"] == _as_json(dict(by)):
            return found["value"]
        if found and self.name:
            return None
        said = f"{place}: {self.kind} that is damaged or was edited"
        if self.remedy:
            raise ReprlabError(f"{said}; {self.remedy}")
        get_logger().warning("%s; made again", said)
        return None

    def keep(self, by: Mapping[str, Any], value: Any) -> None:
        """Keep a value that JSON can hold.

        Raises:
            ReprlabError: the disk is full, or the folder cannot be written.
        """
        held = _as_json({"by": dict(by), "value": value})
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.place(by), {**held, "sha256": _digest(held)})


def made_by(module: str) -> dict[str, Any]:
    """What decides a computation beside its inputs: the code that `module` imports, itself included, and the versions
    of the packages that this code is built on."""
    modules = imported_modules(module)
    return {"code": digest_of_modules(modules), "versions": versions_of(distributions(modules))}


def _checked(text: str) -> dict[str, Any] | None:
    """What the text of a file holds; None where it is not what was written."""
    try:
        found = json.loads(text)
        whole = found["sha256"] == _digest({"by": found["by"], "value": found["value"]})
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if whole else None


def _as_json(value: Any) -> Any:
    """A value as it comes back from a file."""
    return json.loads(json.dumps(value))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
