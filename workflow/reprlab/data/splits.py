"""Splits by group, removal of duplicates, and limits: all by hash, so the order of the rows does not matter; rows of a
finished table are drawn."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING, Any

from reprlab.registry.dataset_entries import SPLITS, Limits, SplitSettings
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pyarrow


def position(seed: int, group: str) -> float:
    """A number in [0, 1) that is a pure function of the seed and the group (first 8 bytes of a sha256)."""
    digest = hashlib.sha256(f"{seed}\x00{group}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def split_of(group: str, settings: SplitSettings) -> str:
    """The split of a group: its position among the cumulated shares of train, validation and test."""
    where = position(settings.seed, group)
    if where < settings.train:
        return "train"
    return "validation" if where < settings.train + settings.validation else "test"


def normalised(text: str) -> str:
    """The text by which duplicates are known: compatibility characters unified, case and spacing ignored."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class SeenTexts:
    """Which normalised texts were met already, as digests of 32 bytes."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def is_new(self, text: str) -> bool:
        """Whether `text` was not met before; from now on it was."""
        digest = hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).digest()
        known = digest in self._digests
        self._digests.add(digest)
        return not known


def require_splits(present: set[str], settings: SplitSettings, name: str) -> None:
    """Check that each split with a share is among those present.

    Raises:
        ReprlabError: nothing was read, or there are too few groups for the shares.
    """
    if not present:
        raise ReprlabError(f"{name}: the reader found nothing in its files; check its options in the data registry")
    for split in SPLITS:
        if getattr(settings, split) > 0 and split not in present:
            raise ReprlabError(f"{name}: no group fell into the {split} split; change `splits` in the data registry")


def limited(rows: list[dict[str, Any]], limits: Limits, seed: int) -> list[dict[str, Any]]:
    """At most the allowed number of rows of each split: the first by hash of seed and id, in their old order.

    Subsets (matched, mismatched) are measured apart, so the limit holds for each.
    """
    parts: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        parts.setdefault((row["split"], row.get("subset", "")), []).append(row["id"])
    kept: set[str] = set()
    for (split, _), names in parts.items():
        names.sort(key=lambda name: (position(seed, name), name))
        kept.update(names[: getattr(limits, split)])
    return [row for row in rows if row["id"] in kept]


def drawn_places(count: int, limit: int | None, seed: int) -> list[int]:
    """Places of `limit` of so many rows in rising order, or all: tables are often sorted by label or subject, and the
    first rows are of one."""
    if limit is None or limit >= count:
        return list(range(count))
    import numpy as np

    return np.sort(np.random.Generator(np.random.Philox(key=seed)).permutation(count)[:limit]).tolist()


def drawn(rows: pyarrow.Table, limit: int | None, seed: int = 0) -> pyarrow.Table:
    """`limit` rows of a table in their old order, or the table."""
    return rows if limit is None or limit >= len(rows) else rows.take(drawn_places(len(rows), limit, seed))
