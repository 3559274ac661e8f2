"""The marked blocks of a page, docs/adding.md above all, and how each changes the texts of a checkout."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from reprlab.runtime.errors import ReprlabError

DOCUMENT = "docs/adding.md"
_BLOCK = re.compile(r"^```(\w+) ([^\n]+)\n(.*?)^```$", flags=re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block whose first line says what to do with it."""

    language: str
    options: Mapping[str, str]
    text: str


class Texts:
    """Texts of a checkout as they will be: nothing is written before all changes are known to fit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.changed: dict[str, str] = {}

    def read(self, name: str) -> str:
        """A file as it will be.

        Raises:
            ReprlabError: it is not there.
        """
        if name not in self.changed and not (self.root / name).is_file():
            raise ReprlabError(f"{self.root / name}: not found; run it in a checkout of reprlab")
        return self.changed.get(name) or (self.root / name).read_text(encoding="utf-8")

    def create(self, name: str, text: str) -> None:
        """A new file.

        Raises:
            ReprlabError: there is such a file.
        """
        if name in self.changed or (self.root / name).exists():
            raise ReprlabError(f"{name} exists already; choose another name, or delete it")
        self.changed[name] = text

    def apply(self, block: Block) -> None:
        """Make the change of a block, as the table at the top of the document says.

        Raises:
            ReprlabError: the file does not hold once what the block is put beside, or exists already.
        """
        name = block.options["file"]
        if "append" in block.options:
            self.changed[name] = self.read(name) + block.text
        elif "under" in block.options:
            line = f"\n{block.options['under']}:\n"
            self._replace(name, line, line + block.text + "\n")
        elif block.language == "diff":
            self._replace(name, *_sides(block.text))
        else:
            self.create(name, block.text)

    def write(self) -> list[str]:
        """Write all that changed; returns the names."""
        for name, text in self.changed.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")
        return list(self.changed)

    def _replace(self, name: str, old: str, new: str) -> None:
        if self.read(name).count(old) != 1:
            raise ReprlabError(f"{name} does not hold once: {old.strip()}")
        self.changed[name] = self.read(name).replace(old, new)


def blocks_of(root: Path, title: str, page: str = DOCUMENT) -> Iterator[Block]:
    """The marked blocks of one section of a page, in their order."""
    sections = re.split(r"^## ", (root / page).read_text(encoding="utf-8"), flags=re.M)
    (section,) = [text for text in sections if text.startswith(f"{title}\n")]
    for language, info, text in _BLOCK.findall(section):
        words = (word.partition("=") for word in info.split())
        yield Block(language, {name: value for name, _, value in words}, text)


def _sides(diff: str) -> tuple[str, str]:
    """Text before and after a change; every line starts with a space, `+` or `-`, or is empty."""
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] or "\n" for line in lines if line[0] != "+")
    after = "".join(line[1:] or "\n" for line in lines if line[0] != "-")
    return before, after
