"""How many of the scored items were seen in training: their answers, or training answers that their texts hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def plain(text: str) -> str:
    """A text in lower case with single spaces: equal so is equal."""
    return " ".join(text.lower().split())


def seen_answers(training: Iterable[str], answers: Sequence[str]) -> int:
    """How many of these answers are answers in training."""
    known = set(map(plain, training))
    return sum(plain(one) in known for one in answers)


def sharing(training: Iterable[Iterable[object]], scored: Sequence[Iterable[object]]) -> int:
    """How many of the scored items share a part (an entity with its type, say) with training."""
    known = {part for parts in training for part in parts}
    return sum(not known.isdisjoint(parts) for parts in scored)
