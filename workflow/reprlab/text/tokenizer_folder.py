"""Tokenizers of folders on this machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.text.encoding import surrounding_ids

# What a model's folder holds besides its tokenizer.
_MODEL_FILES = (".safetensors", ".bin", ".gguf", ".index.json", "config.json", "generation_config.json", "README.md")


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


def copy_tokenizer(source: Path, folder: Path) -> None:
    """Put the tokenizer of `source`, a tokenizer's or a model's folder, beside a model.

    Without it `AutoTokenizer.from_pretrained` makes one up from the model's type: 104 pieces that know no word.
    """
    for path in sorted(source.iterdir()):
        own = path.name == "tokenizer_config.json" or not path.name.endswith(_MODEL_FILES)
        # The engine leaves a hidden file in each folder that a job makes.
        if own and path.is_file() and not path.name.startswith("."):
            shutil.copyfile(path, folder / path.name)


def start_ids(tokenizer: Any) -> list[int]:
    """The start token that the tokenizer puts before a text, as Llama 3 does; mostly none, and none of encoders."""
    before, _ = surrounding_ids(tokenizer)
    return [index for index in before if index == tokenizer.bos_token_id]


def vocabulary_file(folder: Path) -> Path:
    """The file that says which ids a tokenizer gives: our layout's, or that of a published tokenizer."""
    own = folder / "vocabulary.json"
    return own if own.exists() else folder / "tokenizer.json"
