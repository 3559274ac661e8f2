"""JSON files with the same bytes for the same values."""

import json
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import write_text


def write_json(path: Path, value: Any) -> None:
    """Write JSON atomically: sorted keys, two spaces, closing newline, so equal values are equal bytes."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        ReprlabError: the file is missing or not JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReprlabError(f"{path}: no such file") from None
    except (ValueError, RecursionError) as error:
        raise ReprlabError(f"{path}: not valid JSON ({error}); delete it and run the same command again") from None
