"""Rows of text and of labelled examples as pairs that a sequence-to-sequence model is trained on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reprlab.data.splits import drawn_places
from reprlab.structure import formats, restoration
from reprlab.structure.seq2seq_settings import PairTask
from reprlab.text.encoding import Control, part_ids, piece_ids
from reprlab.text.parquet_batches import read_batches
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.text.vocabulary import Vocabulary

_ROWS = 4_096
# The token of a tokenizer's folder that marks the end of a sentence; published T5 vocabularies get it behind their own.
END_OF_SENTENCE = Control("<eosen>")
KEPT, LONG, UNWRITABLE = "pairs", "long", "unwritable"
UNKNOWN_SOURCE, UNKNOWN_TARGET = "unknown_source", "unknown_target"


class PairSource:
    """One table and what is asked of its rows; `counts` fills while they are read.

    Of restoration an excerpt that is too long, or that the tokenizer cannot write back (a letter outside its
    vocabulary cannot be restored), is left out; of the other tasks what cannot be written is counted and kept. Texts
    are NFKC, which is what the tokenizer writes.
    """

    def __init__(self, path: Path, task: PairTask, words: int | None, tokenizer: Path) -> None:
        self.path, self.task, self.words = path, task, words
        self.tokenizer = open_tokenizer(tokenizer)
        self.unknown = Vocabulary.load(tokenizer).unk_id
        self.counts: dict[tuple[str, str], int] = {}
        self._read: dict[tuple[str, str], list[int]] = {}

    def unknown_rates(self) -> dict[tuple[str, str], float]:
        """Percent of pieces that are unknown, of sources and of targets, over all rows that were read, by split."""
        return {key: 100 * unknown / max(pieces, 1) for key, (unknown, pieces) in self._read.items()}

    def rows(self, limits: Mapping[str, int | None]) -> Iterator[dict[str, Any]]:
        """The pairs of the splits in `limits`, as rows of the kind text_to_text; `definition` is the prompt.

        Raises:
            ReprlabError: the table is damaged.
        """
        import pyarrow.parquet

        from reprlab.artifacts.tables import parquet_errors

        with parquet_errors(self.path):
            columns = pyarrow.parquet.read_schema(self.path).names
        chosen = self._chosen(limits)
        first = 0
        for batch in read_batches(self.path, columns, _ROWS):
            places = [place - first for place in range(first, first + len(batch)) if place in chosen]
            first += len(batch)
            yield from self._pairs(batch.take(places).to_pylist() if places else [])

    def _chosen(self, limits: Mapping[str, int | None]) -> set[int]:
        by_split: dict[str, list[int]] = {split: [] for split in limits}
        first = 0
        for batch in read_batches(self.path, ["split"], _ROWS):
            for place, split in enumerate(batch["split"].to_pylist(), start=first):
                by_split.get(split, []).append(place)
            first += len(batch)
        return {
            places[at]
            for split, places in by_split.items()
            for at in drawn_places(len(places), limits[split], len(places))
        }

    def _pairs(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        texts = [self._texts(formats.without_boundaries(row)) for row in rows]
        ids = [
            piece_ids(self.tokenizer, [source for source, _ in texts]),
            target_ids(self.tokenizer, [target for _, target in texts]),
        ]
        for row, (source, target), read, pieces in zip(rows, texts, *ids, strict=True):
            for side, known in ((UNKNOWN_SOURCE, read), (UNKNOWN_TARGET, pieces)):
                sums = self._read.setdefault((row["split"], side), [0, 0])
                sums[0] += known.count(self.unknown)
                sums[1] += len(known)
            if fate := self._fault(target, pieces):
                self._count(row["split"], fate)
            if self.task == "restoration" and (fate or not source):
                continue
            self._count(row["split"], KEPT)
            name = str(row["id"]) if "id" in row else f"{row['document']}-{row['passage']}"
            yield {
                "id": name,
                "group": str(row.get("group", name)),
                "split": row["split"],
                "source": source,
                "targets": [target],
                "task": self.task,
                "definition": restoration.PROMPT if self.task == "restoration" else formats.prompt(self.task),
            }

    def _fault(self, target: str, pieces: list[int]) -> str:
        """The fault of a target; empty: none."""
        restored = self.task == "restoration"
        if restored and self.words is not None and len(target.split()) > self.words:
            return LONG
        unwritable = self.unknown in pieces or said(self.tokenizer, [pieces]) != [" ".join(target.split())]
        return UNWRITABLE if unwritable else ""

    def _texts(self, row: Mapping[str, Any]) -> tuple[str, str]:
        import unicodedata

        if self.task == "restoration":
            return restoration.pair(unicodedata.normalize("NFKC", " ".join(row["sentences"]))) or ("", "")
        source, target = (
            unicodedata.normalize("NFKC", text(self.task, row)) for text in (formats.source, formats.target)
        )
        return source, target

    def _count(self, split: str, fate: str) -> None:
        self.counts[split, fate] = self.counts.get((split, fate), 0) + 1


def target_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Pieces of a text to be written, without its end; a boundary is a token, which every vocabulary here has."""
    parts = [text.split(formats.BOUNDARY) for text in texts]
    return part_ids(tokenizer, [[one for part in own for one in (part, END_OF_SENTENCE)][:-1] for own in parts])


def said(tokenizer: Any, outputs: Sequence[Sequence[int]]) -> list[str]:
    """Texts of ids, in the words of the formats; special tokens other than boundaries stay."""
    boundary = tokenizer.convert_tokens_to_ids(END_OF_SENTENCE)
    sentences = [list(_cut(ids, boundary)) for ids in outputs]
    texts = iter(
        tokenizer.batch_decode(
            [ids for own in sentences for ids in own], skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
    )
    return [" ".join(f" {formats.BOUNDARY} ".join(next(texts) for _ in own).split()) for own in sentences]


def _cut(ids: Sequence[int], boundary: int) -> Iterator[list[int]]:
    own: list[int] = []
    for index in ids:
        if index == boundary:
            yield own
            own = []
        else:
            own.append(index)
    yield own
