"""Prompts with demonstrations (paper, sections 4 and 6; the released data sets for line ends)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from reprlab.data.splits import position
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.representations.settings import PromptSettings
from reprlab.runtime.errors import ReprlabError

Row = dict[str, Any]


def build_rows(rows: Sequence[Row], labels: Sequence[str], settings: PromptSettings) -> list[Row]:
    """One row {id, prompt, label, text} for each item.

    A demonstration is `input + "\\n" + label`; demonstrations and the input are joined by an empty line; every prompt
    ends with a line end. `text` is the item with its own label, on which adapters are trained.

    Args:
        rows: examples with `id`, `split`, `label` and the columns of the template.
        labels: the label set of the data.

    Raises:
        ReprlabError: too few examples, or the template names a column that the data lacks.
    """
    train = _choose(rows, ["train"], settings.train_items, settings)
    validation = _choose(rows, settings.validation_splits, settings.validation_items, settings)
    words = dict(zip(labels, label_words(labels, settings), strict=True))
    pool = [_text(row, words, settings) for row in train]
    asked = train if settings.split == "train" else validation
    chosen = demonstration_indices(len(asked), len(pool), settings)
    return [
        {
            "id": str(row["id"]),
            "prompt": "\n\n".join([*(pool[index] for index in indices), _input(row, settings)]) + "\n",
            "label": words[row["label"]],
            "text": _text(row, words, settings),
        }
        for row, indices in zip(asked, chosen, strict=True)
    ]


def check_prompts(columns: Sequence[str], labels: Sequence[str], settings: PromptSettings) -> None:
    """Refuse what no data with these columns and labels can be asked.

    Raises:
        ReprlabError: the template names another column, or the words do not fit the labels.
    """
    label_words(labels, settings)
    _input(dict.fromkeys(columns, ""), settings)


def label_words(labels: Sequence[str], settings: PromptSettings) -> list[str]:
    """The word of each label in a prompt.

    Raises:
        ReprlabError: another number of words than of labels, or one word twice.
    """
    words = settings.words or list(labels)
    if len(words) != len(labels) or len(set(words)) < len(words):
        raise ReprlabError(f"words {words} for the labels {list(labels)}: give each label a word of its own")
    return words


def demonstration_indices(items: int, pool: int, settings: PromptSettings) -> list[list[int]]:
    """Indices of k demonstrations for each item.

    Shared: `random.sample(range(pool), k)` item by item after one `random.seed`, as the authors' released indices were
    made. Unique: consecutive slices of one shuffled pool, so that no index comes twice.

    Raises:
        ReprlabError: the pool is too small.
    """
    k, generator = settings.demonstrations, random.Random(settings.seed)
    needed = k * items if settings.unique else k
    if needed > pool:
        raise ReprlabError(
            f"{k} demonstrations for {items} items need {needed} training examples and there are {pool}; "
            "raise train_items or lower k"
        )
    if settings.unique:
        order = generator.sample(range(pool), pool)
        return [order[item * k : (item + 1) * k] for item in range(items)]
    return [generator.sample(range(pool), k) for _ in range(items)]


def _choose(rows: Sequence[Row], splits: Sequence[str], count: int, settings: PromptSettings) -> list[Row]:
    """`count` rows by hash, in the order of the data: all of them where the data has just as many."""
    found = [row for row in rows if row["split"] in splits and _is_short(row, settings)]
    if len(found) < count:
        raise ReprlabError(f"{count} examples of {' and '.join(splits)} are asked for and the data has {len(found)}")
    if len(found) == count:
        return found
    seed = SplitSettings().seed
    kept = {row["id"] for row in sorted(found, key=lambda row: (position(seed, str(row["id"])), row["id"]))[:count]}
    return [row for row in found if row["id"] in kept]


def _is_short(row: Row, settings: PromptSettings) -> bool:
    return settings.max_words is None or len(_input(row, settings).split()) <= settings.max_words


def _input(row: Row, settings: PromptSettings) -> str:
    try:
        return settings.template.format(**row)
    except (KeyError, IndexError, ValueError) as error:
        raise ReprlabError(f"template {settings.template!r}: {error!r}; the columns are {', '.join(row)}") from None


def _text(row: Row, words: dict[str, str], settings: PromptSettings) -> str:
    return f"{_input(row, settings)}\n{words[row['label']]}"
