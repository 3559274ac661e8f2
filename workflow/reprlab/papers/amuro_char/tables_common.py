"""What every table shares: reading perf.tsv, and the columns that say where its numbers come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.amuro_char.aggregate import headline
from reprlab.papers.amuro_char.layouts import AggregateLayout
from reprlab.papers.amuro_char.names import MAIN, Pair, checkpoint_order

if TYPE_CHECKING:
    from pathlib import Path

    import pandas

ABOUT = ("scale", "seed", "n", "steps", "tokens", "data", "note")


def read_perf(path: Path) -> pandas.DataFrame:
    """perf.tsv with checkpoints as text and empty notes."""
    frame = read_tsv(path)
    return frame.assign(ckpt=frame["ckpt"].astype(str), note=frame["note"].astype(object).fillna(""))


def headline_scores(layout: AggregateLayout) -> pandas.DataFrame:
    """The scores that aggregates take."""
    return headline(read_perf(layout.perf), layout.fmt, layout.shots)


def in_pairs(frame: pandas.DataFrame, pairs: Iterable[Pair]) -> pandas.Series:
    """Which rows are of a pair, [n] of truth values."""
    import pandas

    known = {tuple(pair) for pair in pairs}
    found = [cell in known for cell in zip(frame["eval"], frame["train"], strict=True)]
    return pandas.Series(found, index=frame.index, dtype=bool)


def about_rows(rows: pandas.DataFrame, scale: str, note: str = "") -> dict[str, Any]:
    """Where a number comes from that was made from `rows` of perf.tsv.

    `n` counts scored examples over all of them; `steps` are those of fine-tuning and `tokens` those of pre-training,
    both the largest.
    """
    return {
        "scale": scale,
        "seed": joined(str(int(seed)) for seed in rows["seed"].dropna()),
        "n": int(rows["n"].sum()) if len(rows) else None,
        "steps": _largest(rows["train_steps"]),
        "tokens": _largest(rows["tokens"]),
        "data": joined(rows["data"].dropna()),
        "note": note,
    }


def joined(parts: Iterable[str]) -> str:
    """The different parts in their order, with semicolons."""
    return "; ".join(dict.fromkeys(part for part in parts if part))


def whole_numbers(frame: pandas.DataFrame, *columns: str) -> pandas.DataFrame:
    """`frame` with counts as integers that may be missing."""
    return frame.astype(dict.fromkeys((name for name in (*columns, "n", "steps", "tokens") if name in frame), "Int64"))


def last_checkpoint(frame: pandas.DataFrame) -> str:
    """The last checkpoint that the rows have."""
    return max((str(ckpt) for ckpt in frame["ckpt"]), key=checkpoint_order, default=MAIN)


def first_checkpoint(frame: pandas.DataFrame) -> str:
    """The first checkpoint that the rows have."""
    return min((str(ckpt) for ckpt in frame["ckpt"]), key=checkpoint_order, default=MAIN)


def _largest(values: pandas.Series) -> int | None:
    known = values.dropna()
    return int(known.max()) if len(known) else None
