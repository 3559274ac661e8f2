"""Synsets of WordNet with their glosses: words, definition, quoted examples, and the synset above."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reprlab.data.sources import expected_format
from reprlab.data.text_files import text_rows

_QUOTED = re.compile(r'"([^"]+)"')
# Where an adjective may stand: (a), (p), (ip).
_MARKER = re.compile(r"\((?:a|p|ip)\)$")
TOPICS = (
    "adj.all", "adj.pert", "adv.all", "Tops", "act", "animal", "artifact", "attribute", "body", "cognition",
    "communication", "event", "feeling", "food", "group", "location", "motive", "object", "person", "phenomenon",
    "plant", "possession", "process", "quantity", "relation", "shape", "state", "substance", "time", "body", "change",
    "cognition", "communication", "competition", "consumption", "contact", "creation", "emotion", "motion",
    "perception", "possession", "social", "stative", "weather", "adj.ppl",
)  # fmt: skip
"""Names of the lexicographer files 0 to 44, which the package lacks (lexnames(5WN)); those of nouns and verbs alike."""


@dataclass(frozen=True)
class Synset:
    """A synset: its words, the first clause of its gloss, its examples, its topic and the synset above ("": none).

    `gloss` is the whole of it; `part` is n, v, a or r; `near` are the synsets that it points to, each as (part, name).
    """

    name: str
    words: tuple[str, ...]
    definition: str
    examples: tuple[str, ...]
    topic: str
    above: str
    gloss: str
    part: str
    near: tuple[tuple[str, str], ...]


def read_synsets(data: Path) -> Iterator[Synset]:
    """The synsets of `data.noun`, `data.verb`, `data.adj` or `data.adv`.

    Raises:
        ReprlabError: a line is not in WordNet's format.
    """
    for number, line in text_rows(data, "latin-1"):
        if not line or line.startswith("  "):
            continue
        with expected_format(f"{data}: line {number}", "a synset of WordNet"):
            yield _synset(line)


def _synset(line: str) -> Synset:
    fields, _, gloss = line.partition(" | ")
    parts = fields.split()
    end = 4 + 2 * int(parts[3], 16)
    words = tuple(_MARKER.sub("", word).replace("_", " ") for word in parts[4:end:2])
    # As many as are there: a number that is wrong must not fill the memory.
    rows = [parts[row : row + 4] for row in range(end + 1, len(parts), 4)][: int(parts[end])]
    if len(rows) != int(parts[end]):
        raise ValueError(f"{parts[end]} pointers, of which {len(rows)} are there")
    above = next((target for symbol, target, part, _ in rows if symbol in ("@", "@i") and part == parts[2]), "")
    definition = gloss.partition(";")[0].strip()
    near = tuple((part, target) for _, target, part, _ in rows)
    # A satellite is an adjective: pointers to it say so.
    part = parts[2].replace("s", "a")
    examples = tuple(_QUOTED.findall(gloss))
    return Synset(parts[0], words, definition, examples, TOPICS[int(parts[1])], above, gloss.strip(), part, near)
