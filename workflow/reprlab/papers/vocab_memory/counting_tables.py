"""Tables of counts: reductions by model and data, sizes of models, Figure 2, and unseen tokens."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.models.counting import ClassifierSizes
from reprlab.models.sizes import read_sizes
from reprlab.papers.vocab_memory.layouts import (
    CountColumn,
    ModelRow,
    ReductionLayout,
    SizesLayout,
    TrendLayout,
    UnseenLayout,
)
from reprlab.text.token_counts import TokenCounts, load_counts

if TYPE_CHECKING:
    import numpy as np
    import pandas

_counts = functools.cache(load_counts)
_NO_TOKENIZER = "no tokenizer of this model at this scale"
_ABOUT = ["scale", "seed", "n", "steps", "tokens"]


def splits_name(splits: list[str]) -> str:
    """A union of splits as the tables name it."""
    return "+".join(splits)


def embedding_reduction(used: int, vocabulary: int) -> float:
    """Share of the embedding's parameters that is saved, in percent (section 4): 100 (1 - u / V)."""
    return 100 * (1 - used / vocabulary)


def model_reduction(used: int, sizes: ClassifierSizes) -> float:
    """Share of the model's parameters that is saved, in percent: 100 (V - u) d / N."""
    return 100 * (sizes.vocabulary - used) * sizes.width / sizes.total


def reduction_table(layout: ReductionLayout) -> pandas.DataFrame:
    """Tables 2, 3 and 4: one row per model, kind and union of splits.

    `n` counts examples and `tokens` what was counted, over all columns of the row; `used_<column>` counts different
    tokens. `compared` says which union stands beside the paper's numbers.
    """
    import pandas

    sizes = read_sizes(layout.sizes)
    names = [column.name for column in layout.columns]
    kinds = ["millions"] if layout.millions else ["embedding", "model"]
    rows = [
        _reduction_row(layout, model, sizes[model.name], kind, splits)
        for splits in layout.splits
        for kind in kinds
        for model in layout.models
    ]
    columns = ["model", *([] if layout.millions else ["kind"]), "splits", *names, *(["mean"] if layout.mean else [])]
    counts = [f"used_{name}" for name in names]
    columns += [*_ABOUT, *counts, *[f"data_{name}" for name in names], "tokenizer", "compared", "note"]
    integers = ("seed", "n", "steps", "tokens", *counts)
    return pandas.DataFrame(rows, columns=columns).astype(dict.fromkeys(integers, "Int64"))


def sizes_table(layout: SizesLayout) -> pandas.DataFrame:
    """Tables 5 and 6: parameters of each model with a head for two labels, in full; `share` in percent."""
    import pandas

    frame = read_tsv(layout.sizes).set_index("name")
    rows = []
    for model in layout.models:
        found: Any = frame.loc[model.name]
        about = {name: int(found[name]) for name in ("vocabulary", "layers", "heads", "width", "embedding", "total")}
        rows.append({"model": model.label, **about, "share": 100 * about["embedding"] / about["total"]})
    kept = ["layers", "heads", "width"] if layout.family else ["vocabulary"]
    table = pandas.DataFrame(rows, columns=["model", *kept, "embedding", "total", "share"])
    note = "counted from the configuration, without weights; embedding and total in parameters"
    return table.assign(scale=layout.scale, entry=[model.name for model in layout.models], note=note)


def trend_table(layout: TrendLayout) -> pandas.DataFrame:
    """Figure 2: tokens and different tokens of each data set; padding is neither."""
    import pandas

    rows = []
    for tokenizer in layout.tokenizers:
        for column in layout.columns:
            counts = _column_counts(column, tokenizer.tokenizer)
            if not counts:
                continue
            together = _together(counts, layout.splits)
            unique = int((together > 0).sum())
            rows.append(
                {
                    "tokenizer": tokenizer.label,
                    "task": column.name,
                    "tokens": int(together.sum()),
                    "unique": unique,
                    "vocabulary": len(together),
                    "share": 100 * unique / len(together),
                    "splits": splits_name(layout.splits),
                    "scale": layout.scale,
                    "n": _rows(counts, layout.splits),
                    "data": column.data,
                }
            )
    columns = ["tokenizer", "task", "tokens", "unique", "vocabulary", "share", "splits", "scale", "n", "data", "note"]
    note = "special tokens count, padding does not; share in percent of the vocabulary"
    return pandas.DataFrame(rows, columns=columns).assign(note=note)


def unseen_table(layout: UnseenLayout) -> pandas.DataFrame:
    """Table 1: tokens that never occur, those of the highest ids, and how many there are in all."""
    import numpy as np
    import pandas

    from reprlab.text.model_tokenizers import load_tokenizer

    rows: list[dict[str, Any]] = []
    for row in layout.tokenizers:
        counts = _counts(layout.counts[row.tokenizer])
        together = counts.together(counts.counts)
        tokenizer = load_tokenizer(layout.folders[row.tokenizer])
        special = np.array(tokenizer.all_special_ids, dtype=np.int64)
        unseen = np.setdiff1d(np.flatnonzero(together == 0), special)
        for number in unseen[::-1][: layout.examples][::-1].tolist():
            rows.append(
                {
                    "tokenizer": row.label,
                    "token": repr(tokenizer.convert_ids_to_tokens(number))[1:-1],
                    "id": number,
                    "unseen_tokens": len(unseen),
                    "vocabulary": len(together),
                    "tokens": int(together.sum()),
                    "scale": layout.scale,
                    "n": sum(counts.rows.values()),
                    "data": layout.data,
                    "note": "special tokens left out; the vocabulary's own spelling of the token",
                }
            )
    columns = ["tokenizer", "token", "id", "unseen_tokens", "vocabulary", "tokens", "scale", "n", "data", "note"]
    if not rows:
        rows = [{"scale": layout.scale, "note": layout.reason}]
    integers = ["id", "unseen_tokens", "vocabulary", "tokens", "n"]
    return pandas.DataFrame(rows, columns=columns).astype(dict.fromkeys(integers, "Int64"))


def _reduction_row(
    layout: ReductionLayout, model: ModelRow, sizes: ClassifierSizes, kind: str, splits: list[str]
) -> dict[str, Any]:
    row: dict[str, Any] = {"model": model.label, "kind": kind, "splits": splits_name(splits), "scale": layout.scale}
    row |= {"tokenizer": model.tokenizer, "n": 0, "tokens": 0, "compared": "yes" if splits == layout.compared else "no"}
    values, notes = [], [layout.note] if layout.note else []
    for column in layout.columns:
        counts = _column_counts(column, model.tokenizer)
        if not counts:
            notes.append(f"{column.name}: {column.reason or _NO_TOKENIZER}")
            continue
        used = used_together(counts, splits)
        values.append(_value(kind, used, sizes))
        row |= {column.name: values[-1], f"used_{column.name}": used, f"data_{column.name}": column.data}
        row["n"] += _rows(counts, splits)
        row["tokens"] += sum(int(found.together(splits).sum()) for found in counts)
    if layout.mean and values:
        row["mean"] = sum(values) / len(values)
        if len(values) < len(layout.columns):
            notes.append(f"mean: of {len(values)} columns")
    return {**row, "note": "; ".join(notes)}


def used_together(counts: list[TokenCounts], splits: list[str]) -> int:
    """Different ids of several data sets put together, padding counted as one of them."""
    return TokenCounts({"all": _together(counts, splits)}, {}, counts[0].padding).used(["all"])


def _together(counts: list[TokenCounts], splits: list[str]) -> np.ndarray:
    import numpy as np

    return np.sum([found.together(splits) for found in counts], axis=0)


def _value(kind: str, used: int, sizes: ClassifierSizes) -> float:
    if kind == "embedding":
        return embedding_reduction(used, sizes.vocabulary)
    if kind == "model":
        return model_reduction(used, sizes)
    return (sizes.vocabulary - used) * sizes.width / 1e6


def _column_counts(column: CountColumn, tokenizer: str) -> list[TokenCounts]:
    return [_counts(Path(path)) for path in column.counts.get(tokenizer, [])]


def _rows(counts: list[TokenCounts], splits: list[str]) -> int:
    return sum(found.rows.get(split, 0) for found in counts for split in splits)
