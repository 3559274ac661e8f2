"""Transcripts that need no listening: nothing, the commonest one, and a string that knows the duration alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from reprlab.baselines.words import commonest

# Letters and lengths that the search for the string tries; a longer pattern was not better on any language here.
_LETTERS, _PERIOD, _FITTED = 12, 8, 200
_RATES = tuple(round(0.3 + 0.1 * step, 1) for step in range(9))


def constant_answers(texts: Sequence[str], seconds: Sequence[float], asked: Sequence[float]) -> dict[str, list[str]]:
    """The answer of each baseline to utterances of `asked` seconds.

    Args:
        texts, seconds: transcripts and durations of training.
    """
    common, written = commonest(texts), duration_alone(texts, seconds)
    return {
        "nothing": [""] * len(asked),
        "most common": [common] * len(asked),
        "duration alone": [written(one) for one in asked],
    }


def duration_alone(texts: Sequence[str], seconds: Sequence[float]) -> Callable[[float], str]:
    """The repeated string whose beginning, cut by the duration, has the fewest character errors in training.

    Letters are added to the repeated part one by one at the place, and with the characters a second, that lower the
    errors most, until none does.
    """
    step = max(1, -(-len(texts) // _FITTED))
    shown, lengths = list(texts[::step]), list(seconds[::step])
    pace = sum(map(len, texts)) / sum(seconds)
    letters = [letter for letter, _ in sorted(Counter("".join(texts)).items(), key=lambda one: (-one[1], one[0]))]
    chosen, rate, least = "", 1.0, sum(map(len, shown))
    while len(chosen) < _PERIOD:
        tried = [
            (_errors(pattern, pace * share, shown, lengths), pattern, share)
            for pattern in _longer(chosen, letters[:_LETTERS])
            for share in _RATES
        ]
        errors, pattern, share = min(tried, default=(least, "", 1.0))
        if errors >= least:
            break
        least, chosen, rate = errors, pattern, share
    return lambda duration: _cut(chosen, pace * rate * duration)


def _longer(pattern: str, letters: Sequence[str]) -> list[str]:
    places = range(len(pattern) + 1)
    return list(dict.fromkeys(pattern[:at] + letter + pattern[at:] for at in places for letter in letters))


def _errors(pattern: str, pace: float, texts: Sequence[str], seconds: Sequence[float]) -> int:
    from rapidfuzz.distance import Levenshtein

    pairs = zip(texts, seconds, strict=True)
    return sum(Levenshtein.distance(text, _cut(pattern, pace * duration)) for text, duration in pairs)


def _cut(pattern: str, length: float) -> str:
    whole = round(length)
    return (pattern * (whole // len(pattern) + 1))[:whole].strip() if pattern else ""
