"""Trees of the Penn Treebank (combined/*.mrg) as passages in running text whose sentence boundaries are known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from reprlab.data.passages import PassageSettings, passage_rows
from reprlab.data.sources import Sources, read_text
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

_TREE = re.compile(r"^(?=\()", re.MULTILINE)
_LEAF = re.compile(r"\(([^()\s]+)\s+([^()\s]+)\s*\)")
_TRACE = "-NONE-"


class Settings(PassageSettings):
    """Where the trees are."""

    members: str
    """Pattern of the members; each is one document."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """The passages of each document, which is their group. A tree starts at the left margin and is one sentence.

    Words are joined as NLTK joins what the treebank's tokenizer took apart; traces are not words.

    Raises:
        ReprlabError: parentheses do not match, or a tree has no word.
    """
    from nltk.tokenize.treebank import TreebankWordDetokenizer

    joined = TreebankWordDetokenizer()
    for path in sources.archive.members(settings.members):
        sentences = []
        for number, tree in enumerate(_TREE.split(read_text(path))[1:], start=1):
            words = [word.replace("\\", "") for tag, word in _LEAF.findall(tree) if tag != _TRACE]
            if tree.count("(") != tree.count(")") or not words:
                raise ReprlabError(f"{path}: tree {number} has no words or parentheses that do not match")
            sentences.append(joined.detokenize(words, convert_parentheses=True))
        yield from passage_rows(path.stem, sentences, settings)
