"""Tokenizers of folders on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError, first_line


def open_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder; code that comes with it is not run.

    Raises:
        ReprlabError: the folder holds none, or one that needs code of its own.
    """
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise ReprlabError(f"{folder}: no tokenizer can be opened there ({first_line(error)})") from None
