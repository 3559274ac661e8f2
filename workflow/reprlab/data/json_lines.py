"""Files of one JSON value a line, gzipped or not."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprlab.data.sources import parse_json
from reprlab.data.text_files import streamed_rows
from reprlab.runtime.errors import ReprlabError


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """(line number, value) of each line that is not empty.

    Raises:
        ReprlabError: the file is broken, or a line is not JSON.
    """
    number = 0
    try:
        for number, line in streamed_rows(path, zipped=path.suffix == ".gz"):
            if line.strip():
                yield number, parse_json(line, f"{path}: line {number}")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ReprlabError(f"{path}: broken after line {number} ({error}); delete it and run again") from None
