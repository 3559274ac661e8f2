"""Descriptions of tracks that need no model: those of training tracks, and one text fitted on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from reprlab.baselines.texts import constant_text, fitted_words

Track = Mapping[str, Any]
INPUTS = ("type", "genre", "lyrics_text")
"""What a describer is told in words."""


def described(training: Sequence[Track], tracks: Sequence[Track]) -> dict[str, list[str]]:
    """The descriptions of each baseline.

    Those of another training track, in turn; one text fitted on all; of the track that is told the same, or nearest to
    it; and of the track that is nearest by type and genre, with the words of its lyrics replaced by those of the track.

    Args:
        training, tracks: `INPUTS` and `description` of each.
    """
    others = [one["description"] for one in training]
    whole, some = _nearest(training, tracks, INPUTS), _nearest(training, tracks, INPUTS[:2])
    return {
        "another track's": [others[place % len(others)] for place in range(len(tracks))],
        "constant": [constant_text(others)] * len(tracks),
        "nearest": [one["description"] for one in whole],
        "nearest with its lyrics": [
            _replaced(near["description"], near["lyrics_text"], one["lyrics_text"])
            for near, one in zip(some, tracks, strict=True)
        ],
    }


def _nearest(training: Sequence[Track], tracks: Sequence[Track], names: Sequence[str]) -> list[Track]:
    """The training track with the largest sum of cosines by TF-IDF of words, one for each input; the first of equal."""
    total = np.zeros((len(tracks), len(training)))
    for name in names:
        vectors = fitted_words([one[name] for one in training])
        known = vectors.transform([one[name] for one in training])
        total += (vectors.transform([one[name] for one in tracks]) @ known.T).toarray()
    return [training[place] for place in total.round(9).argmax(1)]


def _replaced(text: str, said: str, wanted: str) -> str:
    """A text in which the words that one saying has in place of another's are exchanged for these."""
    old, new = said.rstrip(".").split(), wanted.rstrip(".").split()
    for kind, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "replace":
            text = text.replace(" ".join(old[start:end]), " ".join(new[first:last]))
    return text
