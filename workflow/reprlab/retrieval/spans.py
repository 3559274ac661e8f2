"""Spans of passages as queries: pairs without judgements, on which a small model learns that words match words.

Words of a window of a passage are the query, the window is relevant, windows of other passages are not (inverse cloze
with the words left in place, Lee et al. 2019). A model of two layers finds exact matching within minutes where windows
are short, and not at all in whole paragraphs; longer ones, scattered words and windows of one article come after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.retrieval.trec import Run

if TYPE_CHECKING:
    import numpy as np


class SpanSettings(BaseModel):
    """Windows of passages, and the words of theirs that ask for them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    words: int = Field(ge=2)
    """Most words of a window; at least half as many, where the passage has them."""
    query_words: int = Field(ge=1)
    """Most words of a query; at least half as many, and no more than its window."""
    scattered: float = Field(default=0.0, ge=0, le=1)
    """Share of the queries whose words are drawn from all over their window, in its order; others are a span of it."""
    foreign: float = Field(default=0.0, ge=0, lt=1)
    """Share of a query's words that are replaced by words of its negatives, as a question shares words with them."""
    windows: int = Field(ge=1)
    """Windows of a passage, drawn with replacement."""
    negatives: int = Field(ge=1)
    """Windows of other passages beside the relevant one in the run of a query, drawn at random."""
    near: float = Field(default=0.0, ge=0, le=1)
    """Share of the queries whose negatives are of passages at most `reach` places away in the collection, which are
    about the same subject where a collection is in the order of its documents; others are of any passage."""
    reach: int = Field(default=10, ge=1)
    """How far away a near passage may be."""
    seed: int = Field(default=0, ge=0)
    """Seed of all draws."""


@dataclass(frozen=True)
class Windows:
    """Windows by id `<passage>.<number>`, as many of each passage, in the order of the passages."""

    words: dict[str, list[str]]
    each: int

    @property
    def passages(self) -> int:
        """How many passages have windows."""
        return len(self.words) // self.each


def draw_windows(passages: Mapping[str, str], settings: SpanSettings, rng: np.random.Generator) -> Windows:
    """Windows of all passages that have words."""
    worded = {name: words for name, text in passages.items() if (words := text.split())}
    found = {
        f"{name}.{number}": _part(words, settings.words, rng)
        for name, words in worded.items()
        for number in range(settings.windows)
    }
    return Windows(found, settings.windows)


def _size(words: list[str], most: int, rng: np.random.Generator) -> int:
    """Between half of `most` and all of it, and no more than there are words."""
    return min(len(words), int(rng.integers((most + 1) // 2, most + 1)))


def _part(words: list[str], most: int, rng: np.random.Generator) -> list[str]:
    """Consecutive words from anywhere."""
    size = _size(words, most, rng)
    start = int(rng.integers(len(words) - size + 1))
    return words[start : start + size]


def span_run(windows: Windows, settings: SpanSettings, rng: np.random.Generator) -> Run:
    """For each query its window and `negatives` of other passages; fewer where one is drawn twice or is its own."""
    names, count, each = list(windows.words), windows.passages, windows.each
    run = {}
    for row, name in enumerate(names):
        if rng.random() < settings.near:
            away = rng.integers(1, settings.reach + 1, settings.negatives) * rng.choice((-1, 1), settings.negatives)
            places = (row // each + away) % count
        else:
            places = rng.integers(count, size=settings.negatives)
        others = places[places != row // each]
        drawn = others * each + rng.integers(each, size=len(others))
        run[name] = {name: 1.0} | {names[other]: 0.0 for other in drawn.tolist()}
    return run


def span_queries(windows: Windows, run: Run, settings: SpanSettings, rng: np.random.Generator) -> dict[str, str]:
    """The query of each window: words of its own, some of them replaced by words of its negatives."""
    found = {}
    for name, window in windows.words.items():
        query = _part(window, settings.query_words, rng)
        if rng.random() < settings.scattered:
            query = [window[place] for place in sorted(rng.permutation(len(window))[: len(query)].tolist())]
        others = [word for other in run[name] if other != name for word in windows.words[other]]
        replaced = rng.random(len(query)) < (settings.foreign if others else 0)
        instead = rng.integers(max(len(others), 1), size=len(query)).tolist()
        words = zip(query, instead, replaced.tolist(), strict=True)
        found[name] = " ".join(others[place] if given else word for word, place, given in words)
    return found


def span_rows(windows: Windows, queries: Mapping[str, str]) -> list[dict[str, Any]]:
    """Examples of the kind `ranking`, all of the train split."""
    return [
        {
            "id": name, "group": name, "split": "train", "query_id": name, "query": queries[name],
            "passage_id": name, "passage": " ".join(words), "relevance": 1,
        }
        for name, words in windows.words.items()
    ]  # fmt: skip
