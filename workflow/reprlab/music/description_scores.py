"""Scores of descriptions of tracks: of what a model writes, and of what needs none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reprlab.artifacts.tables import read_parquet
from reprlab.evaluation.generated_texts import score_rows
from reprlab.music.forms import description_problem
from reprlab.music.settings import DescriptionScoring

_READ = ["track", "split", "genre", "type", "lyrics_text", "description", "frames"]


def annotated(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Annotations by the name of their track."""
    rows = [row for path in paths for row in read_parquet(path, _READ).to_pylist()]
    return sorted(rows, key=lambda row: row["track"])


def description_rows(
    targets: Sequence[str],
    texts: Sequence[str],
    tracks: Sequence[Mapping[str, Any]],
    model: Path,
    settings: DescriptionScoring,
) -> list[dict[str, Any]]:
    """A row for each measure, in percent: BLEU, ROUGE-L and BERTScore by `model`, and the shares of well-formed and of
    empty texts."""
    shares = {
        "well_formed": [
            not description_problem(text, len(json.loads(one["frames"])))
            for text, one in zip(texts, tracks, strict=True)
        ],
        "empty": [not text for text in texts],
    }
    how = {"resamples": settings.resamples, "seed": settings.seed}
    return score_rows(targets, texts, model, settings.max_length, **how) + [
        {"metric": metric, "value": 100 * sum(each) / len(each), "low": "", "high": "", "n": len(each)}
        for metric, each in shares.items()
    ]
