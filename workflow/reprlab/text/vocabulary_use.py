"""How much of a vocabulary several data sets and splits use together, and which tokens never occur."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.text.token_counts import TokenCounts, load_counts


class UseSettings(BaseModel):
    """What is put together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    counts: dict[str, dict[str, list[Path]]]
    """Model whose tokenizer counts: column: the counts of its data sets, which are put together."""
    splits: list[list[str]] = Field(min_length=1)
    """Unions of splits, one row for each; an empty one takes all splits. A split that the data lacks counts nothing."""
    unseen: int = 0
    """Tokens to list of those that never occur: the highest ids, special tokens left out."""
    tokenizers: dict[str, Path] = {}
    """Folders of the tokenizers, where unseen tokens are listed."""


def vocabulary_use(settings: UseSettings) -> Iterator[dict[str, Any]]:
    """Rows of model, column, splits, metric, value, n (examples), tokens (padding is none) and token.

    Metrics: `unique` (different tokens), `used` (with padding, which rows of a batch have), `vocabulary` (all there
    are); where tokens are listed, `unseen` (how many never occur) and the `id` of each one that is listed.
    """
    for model, columns in settings.counts.items():
        for column, files in columns.items():
            counted = [load_counts(path) for path in files]
            for union in settings.splits:
                about = {"model": model, "column": column, "splits": "+".join(union)}
                yield from _rows(about, counted, union, settings)


def _rows(
    about: dict[str, Any], counted: list[TokenCounts], union: list[str], settings: UseSettings
) -> Iterator[dict[str, Any]]:
    import numpy as np

    together = np.sum([one.together(union or one.counts) for one in counted], axis=0)
    examples = sum(one.rows.get(split, 0) for one in counted for split in union or one.counts)
    about = {**about, "token": None, "n": examples, "tokens": int(together.sum())}
    used = TokenCounts({"all": together}, {}, counted[0].padding).used(["all"])
    found = {"unique": int(np.count_nonzero(together)), "used": used, "vocabulary": len(together)}
    if settings.unseen:
        tokens = unseen_tokens(together, settings.tokenizers[about["model"]])
        found["unseen"] = len(tokens)
        for number in sorted(tokens)[-settings.unseen :]:
            yield {**about, "metric": "id", "value": number, "token": repr(tokens[number])}
    yield from ({**about, "metric": name, "value": value} for name, value in found.items())


def unseen_tokens(counts: Any, tokenizer: Path) -> dict[int, str]:
    """The tokens without an occurrence in `counts` [vocabulary] by their id, special tokens left out."""
    import numpy as np

    from reprlab.text.model_tokenizers import load_tokenizer

    loaded = load_tokenizer(tokenizer)
    special = np.array(loaded.all_special_ids, dtype=np.int64)
    ids = np.setdiff1d(np.flatnonzero(counts == 0), special).tolist()
    tokens = zip(ids, loaded.convert_ids_to_tokens(ids), strict=True)
    return {number: token for number, token in tokens if token is not None}
