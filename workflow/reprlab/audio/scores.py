"""Word and character error rates by jiwer, with intervals over utterances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def error_counts(references: Sequence[str], hypotheses: Sequence[str]) -> dict[str, list[int]]:
    """Errors and reference units of each utterance: word_errors, words, character_errors, characters."""
    import jiwer

    found: dict[str, list[int]] = {name: [] for name in ("word_errors", "words", "character_errors", "characters")}
    for reference, hypothesis in zip(references, hypotheses, strict=True):
        for unit, measure in (("word", jiwer.process_words), ("character", jiwer.process_characters)):
            counted = measure(reference, hypothesis)
            found[f"{unit}_errors"].append(counted.substitutions + counted.deletions + counted.insertions)
            found[f"{unit}s"].append(counted.hits + counted.substitutions + counted.deletions)
    return found


def score_rows(references: Sequence[str], hypotheses: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of metrics in percent: wer and cer, sums of errors over sums of units;
    empty, the share of utterances for which nothing is written."""
    from reprlab.statistics import proportion, ratio_over_units

    counts, n = error_counts(references, hypotheses), len(references)
    words = ratio_over_units(counts["word_errors"], counts["words"], "utterance")
    characters = ratio_over_units(counts["character_errors"], counts["characters"], "utterance")
    empty = proportion(sum(not one for one in hypotheses), n, "utterance")
    rows = [("wer", words.value, words.low, words.high), ("cer", characters.value, characters.low, characters.high)]
    rows += [("empty", empty.value, empty.low, empty.high)]
    return [
        {"metric": name, "value": 100 * value, "low": 100 * low, "high": 100 * high, "n": n}
        for name, value, low, high in rows
    ]
