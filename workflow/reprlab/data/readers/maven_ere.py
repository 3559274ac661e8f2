"""MAVEN-ERE as released: one JSON document a line, relations between events, each event a chain of mentions."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.event_rows import NO_CHAIN, Mention, event_row
from reprlab.data.sources import Sources, expected_format, parse_json
from reprlab.data.splits import position
from reprlab.data.text_files import text_rows
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.log import get_logger

_KINDS = {"causal": "causal_relations", "temporal": "temporal_relations"}


class Settings(BaseModel):
    """Which files, and which relations."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    train: str = "train.jsonl"
    """Labelled documents for training and, by hash, validation."""
    test: str = "valid.jsonl"
    """Labelled documents that are tested on: the labels of the published test split are hidden."""
    kinds: list[Literal["causal", "temporal", "subevent"]] = Field(default=["causal"], min_length=1)
    """Kinds of relations; where a pair has several, the kind that is named first counts."""
    validation_share: float = Field(default=0.2, ge=0, lt=1)
    """Share of the training documents set aside for validation."""
    documents: dict[Literal["train", "validation", "test"], int] | None = {"train": 500, "validation": 100, "test": 200}
    """How many of each split, chosen by hash; null takes all. Li et al. (2025) sample a subset and name no size."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document a line. A relation of two events holds between all their mentions, as the official scorer has it.

    Relations with a time expression (TIMEX) are left out, and the log says how many: time expressions are not events.

    Raises:
        ReprlabError: a line is not in the format.
    """
    for split, name in (("train", settings.train), ("test", settings.test)):
        path, rows, dropped = sources.archive.member(name), [], 0
        for number, line in text_rows(path):
            if not line.strip():
                continue
            place = f"{path}: line {number}"
            with sources.row(), expected_format(place, "a document of MAVEN-ERE"):
                content = parse_json(line, place)
                row = _document(content, settings, place)
                dropped += _with_time_expressions(content, settings)
                held_out = split == "train" and position(splits.seed, row["id"]) < settings.validation_share
                rows.append({**row, "split": "validation" if held_out else split})
        get_logger().info("%s: %d relations with a time expression are left out", path, dropped)
        yield from _sampled(rows, settings, splits.seed)


def _sampled(rows: list[dict[str, Any]], settings: Settings, seed: int) -> Iterator[dict[str, Any]]:
    """The documents of each split with the lowest positions, in the order of the file."""
    for split in dict.fromkeys(row["split"] for row in rows):
        names = [row["id"] for row in rows if row["split"] == split]
        count = None if settings.documents is None else settings.documents.get(split)
        # Another seed than that of the split: its positions were cut there.
        kept = set(sorted(names, key=lambda name: position(seed + 1, name))[:count])
        yield from (row for row in rows if row["split"] == split and row["id"] in kept)


def _with_time_expressions(content: dict[str, Any], settings: Settings) -> int:
    times = {expression["id"] for expression in content["TIMEX"]}
    return sum(1 for _, *pair in _relations(content, settings) if times & set(pair))


def _document(content: dict[str, Any], settings: Settings, place: str) -> dict[str, Any]:
    sentences = [[str(token) for token in sentence] for sentence in content["tokens"]]
    starts = [sum(map(len, sentences[:number])) for number in range(len(sentences))]
    mentions, chains = [], {}
    for chain, event in enumerate(content["events"]):
        chains[event["id"]] = [mention["id"] for mention in event["mention"]]
        for mention in event["mention"]:
            first, end = mention["offset"]
            tokens = range(starts[mention["sent_id"]] + first, starts[mention["sent_id"]] + end)
            number = chain if len(event["mention"]) > 1 else NO_CHAIN
            mentions.append(Mention(mention["id"], tuple(tokens), event["type"], number))
    relations = [
        (head, tail, label)
        for label, first, second in _relations(content, settings)
        for head in chains.get(first, ())
        for tail in chains.get(second, ())
    ]
    return event_row(content["id"], content["id"], sentences, mentions, relations, place)


def _relations(content: dict[str, Any], settings: Settings) -> Iterator[tuple[str, str, str]]:
    for kind in settings.kinds:
        named = {"SUBEVENT": content["subevent_relations"]} if kind == "subevent" else content[_KINDS[kind]]
        for label, pairs in named.items():
            for first, second in pairs:
                yield label.lower(), first, second
