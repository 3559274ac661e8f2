"""One sample of tokens on which the features of all models are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.features.settings import SampleSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_store import TokenStore

_ID = b"sample"


@dataclass(frozen=True)
class TokenSample:
    """Blocks of tokens of several corpora.

    Attributes:
        ids: [blocks, L] int32.
        corpus: [blocks] number of the corpus of each block, in `corpora`.
        corpora: names.
        separators: ids that part texts.
    """

    ids: np.ndarray
    corpus: np.ndarray
    corpora: tuple[str, ...]
    separators: tuple[int, ...]

    @property
    def identity(self) -> str:
        """Digest of all of it: two sets of features may be compared where it is the same."""
        digest = hashlib.sha256(repr((self.corpora, self.separators, self.ids.shape)).encode())
        digest.update(np.ascontiguousarray(self.ids, dtype=np.int32).tobytes())
        digest.update(np.ascontiguousarray(self.corpus, dtype=np.int32).tobytes())
        return digest.hexdigest()[:16]

    @property
    def inner(self) -> np.ndarray:
        """[blocks * L] bool: positions that are neither the first of a block nor a separator of texts."""
        first = np.zeros(self.ids.shape, dtype=bool)
        first[:, 0] = True
        return ~(first | np.isin(self.ids, self.separators)).ravel()

    def save(self, path: Path) -> None:
        """Write Parquet with the columns corpus and input_ids."""
        import pyarrow

        names = [self.corpora[number] for number in self.corpus]
        about = {_ID: self.identity.encode(), b"separators": repr(list(self.separators)).encode()}
        table = pyarrow.table({"corpus": names, "input_ids": list(self.ids)}).replace_schema_metadata(about)
        write_parquet(path, table)

    @classmethod
    def load(cls, path: Path) -> TokenSample:
        """Open what `save` wrote.

        Raises:
            ReprlabError: it is not a sample, or not the one that it says.
        """
        table = read_parquet(path, ["corpus", "input_ids"])
        about = table.schema.metadata or {}
        if _ID not in about:
            raise ReprlabError(f"{path}: not a sample of tokens; delete it and run again")
        names = table["corpus"].to_pylist()
        corpora = tuple(dict.fromkeys(names))
        places = {name: number for number, name in enumerate(corpora)}
        separators = tuple(int(part) for part in about[b"separators"].decode().strip("[]").split(",") if part.strip())
        ids = np.array(table["input_ids"].to_pylist(), dtype=np.int32)
        found = cls(ids, np.array([places[name] for name in names], dtype=np.int32), corpora, separators)
        if found.identity != about[_ID].decode():
            raise ReprlabError(f"{path}: its tokens are not those of the sample that it names; delete it and run again")
        return found


def draw_sample(settings: SampleSettings, separators: Sequence[int]) -> TokenSample:
    """Equal numbers of blocks of each corpus, drawn without replacement.

    Raises:
        ReprlabError: a corpus has fewer blocks.
    """
    ids, corpus = [], []
    for number, path in enumerate(settings.texts.values()):
        store = TokenStore.open(path, settings.split, packing=settings.block)
        if len(store) < settings.blocks:
            raise ReprlabError(
                f"{path}: {len(store)} blocks of {settings.block} tokens in the {settings.split} split, and "
                f"{settings.blocks} are wanted; lower the blocks of the sample"
            )
        random = np.random.Generator(np.random.Philox(key=[settings.seed, number]))
        rows = np.sort(random.permutation(len(store))[: settings.blocks])
        ids.append(store.batch(rows, settings.block)[0])
        corpus.append(np.full(settings.blocks, number, dtype=np.int32))
    return TokenSample(np.concatenate(ids), np.concatenate(corpus), tuple(settings.texts), tuple(separators))
