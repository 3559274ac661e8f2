"""Ids of the vocabulary that T5 and DEPTH share (DEPTH, section 3.1; spec 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.runtime.errors import ReprlabError

PAD_ID = 0
EOS_ID = 1
UNK_ID = 2
PAD, EOS, UNK = "<pad>", "</s>", "<unk>"
FILE = "vocabulary.json"
# Embedding matrices are padded to a multiple of this, as T5's own is; at 32,000 pieces that makes room for DEPTH's
# 21 tokens inside T5's 32,128 rows.
_MULTIPLE = 8


@dataclass(frozen=True)
class Vocabulary:
    """The id layout over `pieces` subword pieces (pad 0, EOS 1 and unk 2 among them).

    With 100 sentinels and 20 sentence tokens, `<extra_id_k>` is pieces + 99 - k, `<sent_j>` is pieces + 100 + j and
    `<eosen>` is pieces + 120.
    """

    pieces: int
    sentinels: int = 100
    sentences: int = 20

    def __post_init__(self) -> None:
        if self.pieces <= UNK_ID or self.sentinels < 1 or self.sentences < 1:
            raise ReprlabError(
                f"vocabulary: {self.pieces} pieces, {self.sentinels} sentinels and {self.sentences} sentence tokens do "
                "not make a vocabulary; there must be more than 3 pieces and at least one of the others"
            )

    @property
    def pad_id(self) -> int:
        return PAD_ID

    @property
    def eos_id(self) -> int:
        return EOS_ID

    @property
    def unk_id(self) -> int:
        return UNK_ID

    @property
    def first_sentinel(self) -> int:
        """Id of `<extra_id_0>`, the highest of the sentinels: T5 counts them downwards."""
        return self.pieces + self.sentinels - 1

    @property
    def first_sentence(self) -> int:
        """Id of `<sent_0>`."""
        return self.pieces + self.sentinels

    @property
    def eosen_id(self) -> int:
        """Id of `<eosen>`."""
        return self.first_sentence + self.sentences

    @property
    def size(self) -> int:
        """Number of ids in use."""
        return self.eosen_id + 1

    @property
    def padded_size(self) -> int:
        """Rows of the embedding: `size` rounded up to a multiple of 8."""
        return -(-self.size // _MULTIPLE) * _MULTIPLE

    @cached_property
    def sentinel_ids(self) -> np.ndarray:
        """int32 ids of `<extra_id_0>`, `<extra_id_1>` and so on: descending."""
        return np.arange(self.first_sentinel, self.pieces - 1, -1, dtype=np.int32)

    @cached_property
    def sentence_ids(self) -> np.ndarray:
        """int32 ids of `<sent_0>`, `<sent_1>` and so on: ascending."""
        return np.arange(self.first_sentence, self.eosen_id, dtype=np.int32)

    def is_sentence(self, ids: Any) -> Any:
        """True at SENT tokens; `ids` is a numpy array or a torch tensor of any shape."""
        return (ids >= self.first_sentence) & (ids < self.eosen_id)

    def is_special(self, ids: Any) -> Any:
        """True at pad, EOS, unk, sentinels, SENT and EOSEN: the positions that DEPTH never masks."""
        return (ids <= UNK_ID) | (ids >= self.pieces)

    def tokens(self) -> dict[str, int]:
        """The names of sentinels, sentence tokens and EOSEN with their ids."""
        names = {f"<extra_id_{k}>": int(i) for k, i in enumerate(self.sentinel_ids)}
        names |= {f"<sent_{j}>": int(i) for j, i in enumerate(self.sentence_ids)}
        return names | {"<eosen>": self.eosen_id}

    def save(self, folder: Path) -> None:
        """Write `vocabulary.json` into a tokenizer's folder."""
        write_json(Path(folder) / FILE, self._record())

    @classmethod
    def load(cls, folder: Path) -> Vocabulary:
        """Read `vocabulary.json` from a tokenizer's folder.

        Raises:
            ReprlabError: the file is missing, or its ids are not those of this layout.
        """
        path = Path(folder) / FILE
        record = read_json(path)
        try:
            vocabulary = cls(record["pieces"], len(record["sentinels"]), len(record["sentences"]))
        except (KeyError, TypeError, ReprlabError):
            vocabulary = None
        if vocabulary is None or vocabulary._record() != record:
            raise ReprlabError(f"{path}: not the id layout of this version; delete the folder and run again")
        return vocabulary

    def _record(self) -> dict[str, Any]:
        return {
            "pieces": self.pieces,
            "pad": PAD_ID,
            "eos": EOS_ID,
            "unk": UNK_ID,
            "sentinels": self.sentinel_ids.tolist(),
            "sentences": self.sentence_ids.tolist(),
            "eosen": self.eosen_id,
            "size": self.size,
            "padded_size": self.padded_size,
        }


def padded_rows(folder: Path | None) -> int | None:
    """Rows of the embedding of a random model over a tokenizer of ours: its padded vocabulary.

    None without a tokenizer, and for a published one, which has another layout: there the model's entry says it.
    """
    from reprlab.text.tokenizer_folder import vocabulary_file

    ours = folder is not None and vocabulary_file(folder).name == FILE
    return Vocabulary.load(folder).padded_size if folder is not None and ours else None
