"""Structure tasks as text to text (Min et al. 2025, section 4 and its code): what the model reads, what it shall write.

A row is an example of the data set's kind: `tags` (named entities, chunks, parts of speech), `roles` (semantic roles),
`triples` (open information extraction, relations) and `passages` (sentence boundaries). A row of the multitask setting
has tags, triples or both. What the model writes is read back by `items`, `tags_of` and `words_and_boundaries`; whatever
it writes can be read: what has not the form of its task is counted and scored as wrong, never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from reprlab.evaluation.entities import entities
from reprlab.structure.seq2seq_settings import StructureTask

ITEM_TASKS = ("ner", "openie", "multitask", "srl", "relations")
TAG_TASKS = ("chunking", "pos")
# Sentence boundaries; a tokenizer gets it as one special token.
BOUNDARY = "<EOS>"
# What stands for no item at all.
NOTHING = "O"
_PROMPTS: dict[StructureTask, str] = {
    "ner": "Find named entities: ",
    "openie": "Extract event or relation triples: ",
    "multitask": "Extract event or relation triples and named entities: ",
    "sbd": "Detect sentence boundaries: ",
    "chunking": "Perform chunking: ",
    "pos": "Identify parts of speech: ",
    "srl": "Identify semantic roles: ",
    "relations": "Classify relations: ",
}
_NAME = r"(?:[CR]-)?(?:ARG|V)[A-Z0-9-]*:"
_ROLE = re.compile(f", (?={_NAME})")
# Between frames; behind what closes a word of an argument there is the next role.
_FRAME = re.compile(rf"\), (?!{_NAME})")
# Kinds of example that a task is read from.
KINDS: dict[StructureTask, tuple[str, ...]] = {
    "ner": ("tags",),
    "chunking": ("tags",),
    "pos": ("tags",),
    "srl": ("roles",),
    "openie": ("triples",),
    "relations": ("triples",),
    "multitask": ("tags", "triples"),
    "sbd": ("passages",),
}

Row = Mapping[str, Any]


class Items(NamedTuple):
    """Items read from a text."""

    items: list[str]
    """Lower-cased items, as often as they are written."""
    malformed: int
    """How many parts of the text have not the form of the task; what they say is an item all the same."""


def without_boundaries(row: Row) -> Row:
    """A row whose own texts spell no boundary: `<EOS>` in the data is written `<eos>`."""
    return {name: _without(value) for name, value in row.items()}


def _without(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(BOUNDARY, BOUNDARY.lower())
    return [_without(one) for one in value] if isinstance(value, list) else value


def prompt(task: StructureTask) -> str:
    """The prompt before the source of a task (only the authors' code has prompts, at its submission)."""
    return _PROMPTS[task]


def source(task: StructureTask, row: Row) -> str:
    """The text of a row as the model reads it, behind the prompt: tokens or sentences with single spaces between."""
    if task == "sbd":
        return " ".join(" ".join(row["sentences"]).split())
    return str(row["text"]) if "text" in row else " ".join(row["tokens"])


def target(task: StructureTask, row: Row) -> str:
    """The target, without an end-of-sequence token, which the tokenizer adds."""
    if task == "sbd":
        return f" {BOUNDARY} ".join(" ".join(sentence.split()) for sentence in row["sentences"])
    if task in TAG_TASKS:
        return " ".join(row["tags"])
    if task == "srl":
        return _roles(row["tokens"], row["verbs"], row["tags"]) or NOTHING
    return " ".join(f"({item})" for item in _in_order(row, ", " if task == "relations" else "; ")) or NOTHING


def _in_order(row: Row, between: str) -> list[str]:
    """Entities and triples by their first mention, entities first on ties; what is not found comes last."""
    text = source("openie", row)
    found = []
    if "tags" in row:
        starts = _places(row["tokens"], text)
        for start, end, kind in entities(row["tags"]):
            found.append((starts[start], 0, start, f"{' '.join(row['tokens'][start:end])}: {kind}"))
    triples = zip(*(row[name] for name in ("heads", "predicates", "tails")), strict=True) if "heads" in row else ()
    for number, triple in enumerate(triples):
        found.append((_mention(triple[0], text), 1, number, between.join(triple)))
    # A `) (` inside an item would read as two items.
    return [item.replace(") (", ")(") for *_, item in sorted(found)]


def _places(tokens: Sequence[str], text: str) -> list[int]:
    """Where each token begins in the text, which may join them in another way; one that is not found has no width."""
    found, end = [], 0
    for token in tokens:
        place = text.find(token, end)
        found.append(place if place >= 0 else end)
        end = place + len(token) if place >= 0 else end
    return found


def _mention(words: str, text: str) -> int:
    """Where the text first has these words, whole; its length where it has them nowhere."""
    before, after = (r"\b" if edge.isalnum() else "" for edge in (words[:1], words[-1:]))
    found = re.search(before + re.escape(words) + after, text)
    return found.start() if found else len(text)


def _roles(tokens: Sequence[str], verbs: Sequence[int], tags: Sequence[str]) -> str:
    """`verb (ARG0: words, ARG1: words)` of each predicate; `tags` are the BIO tags of one predicate after the other."""
    frames = []
    for number, verb in enumerate(verbs):
        own = tags[number * len(tokens) : (number + 1) * len(tokens)]
        words: dict[str, list[str]] = {}
        for start, end, role in sorted(entities(own)):
            if role != "V":
                words.setdefault(role, []).extend(tokens[start:end])
        arguments = ", ".join(f"{role}: {_plain(' '.join(said))}" for role, said in words.items())
        frames.append(f"{tokens[verb]} ({arguments})")
    return ", ".join(frames)


def _plain(words: str) -> str:
    """The words of an argument, in which nothing reads as the end of a frame or as another role."""
    return _ROLE.sub(",", words).replace("), ", "),")


def items(task: StructureTask, text: str) -> Items:
    """The items that a text of an item task holds: entities, triples, or `verb; role: words`.

    Items are split at `) (` and lower-cased, as in the published scorer; `()` is not an item. Malformed are a text that
    neither is `O` nor is in parentheses (cut off at the longest output, say), and an item without its parts.
    """
    text = " ".join(text.split())
    if text == NOTHING:
        return Items([], 0)
    if not text:
        return Items([], 1)
    if task == "srl":
        return _role_items(text)
    malformed = int(not (text.startswith("(") and text.endswith(")")))
    said = _parts(text)
    return Items([part.lower() for part in said], malformed + sum(not _FORMS[task](part) for part in said))


def upstream_items(text: str) -> list[str]:
    """The items of a text as the authors' scorer reads them, whatever the task: frames of roles are none apart."""
    text = " ".join(text.split())
    return [] if text == NOTHING else [part.lower() for part in _parts(text)]


def _parts(text: str) -> list[str]:
    parts = text.removeprefix("(").removesuffix(")").split(") (")
    return [part.strip() for part in parts if part.strip()]


def _is_entity(item: str) -> bool:
    words, _, kind = item.rpartition(": ")
    return bool(words.strip() and kind) and " " not in kind


def _is_triple(item: str) -> bool:
    return item.count(";") >= 2


_FORMS: dict[StructureTask, Callable[[str], bool]] = {
    "ner": _is_entity,
    "openie": _is_triple,
    "multitask": lambda item: _is_entity(item) or _is_triple(item),
    "relations": lambda item: item.count(", ") >= 2,
}


def _role_items(text: str) -> Items:
    found, malformed = [], int(not text.endswith(")"))
    for frame in _FRAME.split(text.removesuffix(")")):
        verb, opened, arguments = frame.partition(" (")
        malformed += not opened
        said = _ROLE.split(arguments) if arguments.strip() else []
        malformed += sum(not _is_role(argument) for argument in said)
        found += [f"{verb}; {argument}".lower() for argument in said]
        if not opened and verb.strip():
            found.append(verb.lower())
    return Items(found, malformed)


def _is_role(argument: str) -> bool:
    name, colon, words = argument.partition(": ")
    return bool(colon and words.strip()) and _ROLE.match(f", {name}:") is not None


def tags_of(text: str) -> list[str]:
    """The tags that a text of a tag task holds."""
    return text.split()


def words_and_boundaries(text: str) -> tuple[list[str], list[int]]:
    """The words of a text, and after how many of them each boundary stands, in rising order.

    Boundaries before the first word and repeated ones are not boundaries.
    """
    parts = [part.split() for part in text.split(BOUNDARY)]
    places = accumulate(len(part) for part in parts[:-1])
    words = [word for part in parts for word in part]
    return words, [place for before, place in pairwise([0, *places]) if place > before]
