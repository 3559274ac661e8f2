"""Examples made by DiscoEval's recipe (Chen et al. 2019) from held-out documents: SP and DC."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.readers.discoeval import COHERENCE_LABELS, POSITION_LABELS, SENTENCES
from reprlab.data.sources import Sources, segmented_sentences
from reprlab.data.splits import normalised, position, split_of
from reprlab.registry.dataset_entries import Split, SplitSettings
from reprlab.runtime.errors import ReprlabError

_COLUMNS = ["document", "passage", "split", "source", "sentences"]


class Settings(BaseModel):
    """Which task, and from which documents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Literal["sp", "dc"]
    """Sentence position or discourse coherence."""
    held_out: list[Split] = ["validation", "test"]
    """Splits of the corpus that are used: never the one that was pre-trained on."""
    corpus_sources: list[str] = []
    """Sources (genres, novels) that are used; none named means all."""
    min_words: int = Field(default=4, ge=1)
    """A text with a shorter sentence is left out: headings and remains of lists have no place in an order."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """Texts of consecutive sentences that do not overlap; the group is the document, under a name of the task's own.

    SP: one of five sentences, drawn uniformly, is moved to the front; the label is its true place. DC: each text of six
    appears twice, untouched and with one inner sentence replaced by one of another document of the same split.

    Raises:
        ReprlabError: no segmented sentences were given, or too few documents are held out.
    """
    documents = _documents(sources, settings)
    if len(documents) < 2:
        where = ", ".join(str(path) for path in sources.documents)
        raise ReprlabError(
            f"{where}: {len(documents)} held-out documents are too few for DiscoEval's recipe; enlarge the validation "
            "and test shares of the corpus"
        )
    texts = list(_distinct_texts(documents, settings))
    if settings.task == "sp":
        yield from (_position_example(name, number, text, splits.seed) for name, number, text in texts)
    else:
        yield from _coherence_examples(texts, splits)


def _documents(sources: Sources, settings: Settings) -> dict[str, list[str]]:
    """Document to its sentences in order: passages of a document are consecutive."""
    if not sources.documents:
        raise ReprlabError("no segmented sentences were given (--documents)")
    documents: dict[str, list[str]] = {}
    for path in sources.documents:
        table = segmented_sentences(path, _COLUMNS).sort_by([("document", "ascending"), ("passage", "ascending")])
        for row in table.to_pylist():
            if row["split"] not in settings.held_out:
                continue
            if not settings.corpus_sources or row["source"] in settings.corpus_sources:
                documents.setdefault(row["document"], []).extend(row["sentences"])
    return documents


def _distinct_texts(documents: dict[str, list[str]], settings: Settings) -> Iterator[tuple[str, int, list[str]]]:
    """(group, number, sentences) of each text; a text that two documents share is taken once."""
    seen: set[str] = set()
    for name, sentences in documents.items():
        # The corpus was split by the hash of the document's name: the same hash would put all of it in one split again.
        group = f"{settings.task}:{name}"
        for number, text in enumerate(_texts(sentences, SENTENCES[settings.task], settings.min_words)):
            key = normalised(" ".join(text))
            if key not in seen:
                seen.add(key)
                yield group, number, text


def _texts(sentences: list[str], length: int, min_words: int) -> Iterator[list[str]]:
    """Runs of `length` consecutive sentences that are long enough and differ, without overlap."""
    start = 0
    while start + length <= len(sentences):
        text = [" ".join(sentence.split()) for sentence in sentences[start : start + length]]
        short = [place for place, sentence in enumerate(text) if len(sentence.split()) < min_words]
        if short:
            start += short[-1] + 1
            continue
        if len({normalised(sentence) for sentence in text}) == length:
            yield text
        start += length


def _position_example(document: str, number: int, text: list[str], seed: int) -> dict[str, Any]:
    name = f"{document}-{number}"
    moved = int(position(seed, f"moved {name}") * len(text))
    return {
        "id": name,
        "group": document,
        "sentences": [text[moved], *text[:moved], *text[moved + 1 :]],
        "label": POSITION_LABELS[moved],
    }


def _coherence_examples(texts: list[tuple[str, int, list[str]]], splits: SplitSettings) -> Iterator[dict[str, Any]]:
    # A stranger comes from the same split, so that no sentence is seen both in training and in testing.
    pools: dict[str, list[tuple[str, str]]] = {}
    for document, _, text in texts:
        pools.setdefault(split_of(document, splits), []).extend((document, sentence) for sentence in text)
    for document, number, text in texts:
        name = f"{document}-{number}"
        stranger = _stranger(pools[split_of(document, splits)], document, name, splits.seed)
        place = 1 + int(position(splits.seed, f"place {name}") * (len(text) - 2))
        changed = [*text[:place], stranger, *text[place + 1 :]]
        yield {"id": f"{name}-untouched", "group": document, "sentences": text, "label": COHERENCE_LABELS[1]}
        yield {"id": f"{name}-replaced", "group": document, "sentences": changed, "label": COHERENCE_LABELS[0]}


def _stranger(pool: list[tuple[str, str]], document: str, name: str, seed: int) -> str:
    start = int(position(seed, f"stranger {name}") * len(pool))
    for step in range(len(pool)):
        other, sentence = pool[(start + step) % len(pool)]
        if other != document:
            return sentence
    raise ReprlabError(f"{document}: is the only held-out document of its split; change `splits` of the task")
