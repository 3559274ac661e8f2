"""Triples of anchor, positive and hard negative from examples of the kind `choice`, and batches of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.runtime.errors import ReprlabError, first_line, raise_if_machine_is_short
from reprlab.sentences.batch_plan import mixed_batches, plan_batches
from reprlab.sentences.settings import TextForm, TripleTexts
from reprlab.sentences.texts import EncodedTexts, encode_texts
from reprlab.training.finetuning_encoding import Ragged

if TYPE_CHECKING:
    import torch

TRIPLES = "triples.json"
"""File of a folder of triples that tells them from others: it holds the digest of their arrays."""
_ID = np.dtype("<i4")
# Texts that are tokenised at once.
_TEXTS_AT_ONCE = 2**13


@dataclass(frozen=True)
class Triples:
    """Triples of several data sets, one after another.

    Anchors, positives and negatives of triple i are the texts i, n + i and 2 n + i.
    """

    texts: EncodedTexts
    sizes: dict[str, int]

    @property
    def count(self) -> int:
        """n."""
        return len(self.texts) // 3

    def rows(self, batch_size: int, seed: int, turn: int, *, mixed: bool) -> np.ndarray:
        """[batches, batch_size] triples of one pass over all, in an order of its own."""
        key = seed * 1_000_003 + turn
        if mixed:
            return mixed_batches(self.count, batch_size, self.count // batch_size, key)
        plan = plan_batches(self.sizes, batch_size, key)
        first = dict(zip(self.sizes, np.cumsum([0, *self.sizes.values()]).tolist(), strict=False))
        return plan.rows + np.array([first[name] for name in plan.dataset])[:, None]

    def sample(self, batch_size: int, batches: int, seed: int) -> np.ndarray:
        """[batches, batch_size] triples over all data together, none twice."""
        return mixed_batches(self.count, batch_size, batches, seed)

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """The texts of some triples [3 B, L]: anchors, positives, negatives."""
        return self.texts.batch(np.concatenate([rows + part * self.count for part in range(3)]))


def encoded_triples(
    files: Sequence[Path], tokenizer: Any, settings: TripleTexts
) -> tuple[dict[str, int], Iterator[EncodedTexts]]:
    """How many triples each file has, by the name of its folder, and their texts, some at a time in their order.

    A triple is question, right choice, first wrong choice. Anchors have an instruction (of several, each row takes the
    next), and of data sets named in `both_sides` the others too: L3Prune's text says so of symmetric ones, and its code
    does not.

    Raises:
        ReprlabError: a file has no such example, or one without a wrong choice.
    """
    import pyarrow.compute

    from reprlab.data.schema import read_rows
    from reprlab.data.splits import drawn

    tables = {}
    for path in files:
        table, _ = read_rows(path, "choice")
        found = drawn(table.filter(pyarrow.compute.equal(table["split"], settings.split)), settings.limit)
        if not len(found):
            raise ReprlabError(f"{path}: no triple in the split {settings.split}")
        alone = found.filter(pyarrow.compute.less(pyarrow.compute.list_value_length(found["choices"]), 2))
        if len(alone):
            raise ReprlabError(f"{path}: example {alone['id'][0]} has no wrong choice, a hard negative")
        tables[path.parent.name] = found.select(["question", "choices", "answer"])

    def texts() -> Iterator[EncodedTexts]:
        for side in range(3):
            for name, table in tables.items():
                asked = [f"{one}{settings.separator}" if one else "" for one in settings.instructions.get(name) or [""]]
                turns = asked if side == 0 or name in settings.both_sides else [""]
                at_once = max(1, _TEXTS_AT_ONCE // len(turns)) * len(turns)
                for start in range(0, len(table), at_once):
                    part = [_texts_of(row)[side] for row in table.slice(start, at_once).to_pylist()]
                    yield _in_turn(tokenizer, part, settings.form, turns)

    return {name: len(table) for name, table in tables.items()}, texts()


def _texts_of(row: dict[str, Any]) -> tuple[str, str, str]:
    """Anchor, positive and negative."""
    answer, choices = row["answer"], row["choices"]
    return row["question"], choices[answer], choices[1 if answer == 0 else 0]


def _in_turn(tokenizer: Any, texts: list[str], form: TextForm, turns: list[str]) -> EncodedTexts:
    """Texts that take the instructions in turn."""
    parts = [encode_texts(tokenizer, texts[turn :: len(turns)], form, ask) for turn, ask in enumerate(turns)]
    order = np.argsort(np.concatenate([np.arange(turn, len(texts), len(turns)) for turn in range(len(turns))]))
    return EncodedTexts.joined(parts).chosen(order)


def write_triples(folder: Path, files: Sequence[Path], tokenizer: Any, settings: TripleTexts) -> None:
    """Write the triples of some files as arrays into an existing folder, some texts at a time.

    `ids.bin` has the ids of all texts as int32, one after another, `offsets.npy` where each begins, and the last ends,
    `starts.npy` where in each the part begins that is pooled; `triples.json` the rest, with the digest of the arrays.

    Raises:
        ReprlabError: as of `encoded_triples`.
    """
    sizes, texts = encoded_triples(files, tokenizer, settings)
    pad, behind, digest = 0, 0, hashlib.sha256()
    lengths, starts = [], []
    with (folder / "ids.bin").open("wb") as file:
        for part in texts:
            ids = part.ids.flat.astype(_ID)
            file.write(ids.data)
            lengths.append(part.ids.lengths)
            starts.append(part.starts.astype(np.int32))
            pad, behind = part.pad, part.behind
            digest.update(ids.data)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(lengths))])
    for name, array in {"offsets": offsets, "starts": np.concatenate(starts)}.items():
        np.save(folder / f"{name}.npy", array)
        digest.update(array.data)
    about = {"sizes": list(sizes.items()), "pad": pad, "behind": behind, "digest": digest.hexdigest()}
    write_json(folder / TRIPLES, about)


def open_triples(folder: Path) -> Triples:
    """Open what `write_triples` wrote; the ids are mapped into memory.

    Raises:
        ReprlabError: it is not there, or not whole.
    """
    try:
        about = read_json(folder / TRIPLES)
        offsets, starts = (np.load(folder / f"{name}.npy") for name in ("offsets", "starts"))
        ids = np.asarray(np.memmap(folder / "ids.bin", dtype=_ID, mode="r"))
        sizes = {str(name): int(size) for name, size in about["sizes"]}
        pad, behind = int(about["pad"]), int(about["behind"])
        whole = len(ids) == offsets[-1] and len(starts) == len(offsets) - 1 == 3 * sum(sizes.values())
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise_if_machine_is_short(error)
        raise ReprlabError(f"{folder}: no readable triples ({first_line(error)}); delete it and run again") from None
    if not whole:
        raise ReprlabError(f"{folder}: its arrays are not of one size; delete it and run again")
    return Triples(EncodedTexts(Ragged(ids, offsets), starts, pad, behind), sizes)
