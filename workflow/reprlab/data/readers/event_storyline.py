"""The Event StoryLine Corpus from its repository: CAT-XML documents and the tab files of coreference-extended pairs."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from pydantic import BaseModel, ConfigDict

from reprlab.data.event_rows import Chains, Mention, event_row
from reprlab.data.sources import Sources, expected_format, read_text, tab_rows
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

_NEGATED = "NEG_"
_EVENT = "ACTION_"


class Settings(BaseModel):
    """Which version, which classes of events, and which topics are for development."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str = "v0.9"
    """Folder of the annotation and of the pairs."""
    dropped_classes: list[str] = []
    """Classes of events that are left out, their negated forms (NEG_) too."""
    validation_topics: list[str] = ["37", "41"]
    """Topics for development; all others are `train`, to be folded by topic."""
    drop_unknown: bool = False
    """Leave out pairs whose tokens are not events (v1.5 has 106 such ends); otherwise they are an error."""


def has_chains(settings: Settings) -> bool:
    """Whether the version has `coref_chain`: 1.5 does not."""
    return settings.version != "v1.5"


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each file; the group is the topic.

    Relations are those of `event_mentions_extended` (tab-separated: token ids joined by `_`, twice, and the label),
    chains those of `coref_chain` where the version has it: mentions of no relation are in no chain there.

    Raises:
        ReprlabError: a file is not in the format, or a pair names tokens that are not event.
    """
    archive = sources.archive
    for file in archive.files:
        parts = PurePosixPath(file.file).parts
        if len(parts) != 4 or parts[:2] != ("annotated_data", settings.version):
            continue
        topic, name = parts[2], parts[3].partition(".")[0]
        path = archive.file(file.file)
        pairs, chains = (
            f"evaluation_format/full_corpus/{settings.version}/{folder}/{topic}/{name}.tab"
            for folder in ("event_mentions_extended", "coref_chain")
        )
        with expected_format(str(path), "a document of the Event StoryLine Corpus"):
            yield _document(
                path,
                name,
                topic,
                archive.file(pairs) if archive.has_file(pairs) else None,
                archive.file(chains) if archive.has_file(chains) else None,
                settings,
            )


def _document(
    path: Path, name: str, topic: str, pairs: Path | None, chains: Path | None, settings: Settings
) -> dict[str, Any]:
    sentences, place = _tokens(path)
    events = _events(path, place)
    joined = Chains()
    if chains is not None:
        for _, (sources, targets, _label) in tab_rows(chains, 3):
            joined.join(sources.split())
            joined.join(targets.split())
    kept = {key: kind for key, kind in events.items() if kind.removeprefix(_NEGATED) not in settings.dropped_classes}
    numbers = joined.numbers(kept)
    mentions = [
        Mention(key, tuple(place[token] for token in key.split("_")), kind, numbers[key]) for key, kind in kept.items()
    ]
    relations = []
    for line, (source, target, label) in tab_rows(pairs, 3) if pairs is not None else ():
        if source not in events or target not in events:
            if settings.drop_unknown:
                continue
            raise ReprlabError(f"{pairs}: line {line}: {source} or {target} is not an event of {path.name}")
        if source in kept and target in kept:
            relations.append((source, target, label))
    row = event_row(name, topic, sentences, mentions, relations, str(path))
    return {**row, "split": "validation" if topic in settings.validation_topics else "train"}


def _tokens(path: Path) -> tuple[list[list[str]], dict[str, int]]:
    """Sentences of tokens, and the place of each token id in the document."""
    sentences: dict[str, list[str]] = {}
    place: dict[str, int] = {}
    for number, token in enumerate(_root(path).iter("token")):
        sentences.setdefault(token.attrib["sentence"], []).append(" ".join((token.text or "").split()) or "_")
        place[token.attrib["t_id"]] = number
    return list(sentences.values()), place


def _events(path: Path, place: dict[str, int]) -> dict[str, str]:
    """Token ids of each event joined by `_`, to its class. Markables without tokens stand for events, not mentions."""
    events: dict[str, str] = {}
    for markable in _root(path).iterfind("Markables/*"):
        kind = markable.tag.removeprefix(_NEGATED)
        anchors = [anchor.attrib["t_id"] for anchor in markable.iterfind("token_anchor")]
        if kind.startswith(_EVENT) and anchors:
            anchors.sort(key=place.__getitem__)
            events["_".join(anchors)] = markable.tag.replace(_EVENT, "", 1)
    return events


def _root(path: Path) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(read_text(path))  # noqa: S314 - expat bounds the growth of entities
    except ElementTree.ParseError as error:
        raise ReprlabError(f"{path}: not well-formed XML ({error})") from None
