"""Scores read by music21: notes, key and metre."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprlab.music.extra import audio_extra
from reprlab.music.hearing import KEYS


class ScoreError(Exception):
    """A score that cannot be used, and why."""


@dataclass(frozen=True)
class Score:
    """`notes` are (onset, length, pitch) in quarter notes and MIDI numbers, from the first note on."""

    notes: list[tuple[float, float, int]]
    key: str
    """As madmom spells it: one of `hearing.KEYS`."""
    meter: int
    """Beats of a bar; 6/8 has two."""
    beat: float
    """Beats in a quarter note: 2/3 in 6/8."""
    upbeat: float = 0.0
    """Beats before the first whole bar."""


def key_label(tonic: int, mode: str) -> str:
    """A key in madmom's spelling, of the pitch class of its tonic (0 is C)."""
    return KEYS[(tonic - 9) % 12 + (12 if mode == "minor" else 0)]


def read_score(path: Path, quarters: float) -> Score:
    """Notes of the first `quarters` quarter notes, with key and metre of the whole score.

    The key is found by music21 (Krumhansl and Schmuckler) over the same notes, since signatures do not tell the mode.

    Raises:
        ScoreError: it cannot be parsed, has no time signature or changes it, or ends too early.
    """
    with audio_extra():
        import music21
    try:
        parsed = music21.converter.parse(path, forceSource=True)
        stream = parsed.scores[0] if isinstance(parsed, music21.stream.Opus) else parsed
        signatures = {(one.numerator, one.denominator) for one in stream.flatten().getElementsByClass("TimeSignature")}
        # Ties and repeats are played, not written.
        notes = stream.expandRepeats().stripTies().flatten().notes
        played = [
            (float(one.offset), float(one.quarterLength), int(pitch.midi))
            for one in notes
            if float(one.quarterLength) > 0
            for pitch in one.pitches
        ]
        key = stream.analyze("key")
        upbeat = _upbeat(stream)
    except Exception as error:
        raise ScoreError(f"music21 cannot read it ({type(error).__name__})") from None
    if len(signatures) != 1:
        raise ScoreError("it has not one metre")
    beats, unit = next(iter(signatures))
    compound = unit == 8 and beats % 3 == 0
    if not played or max(start + length for start, length, _ in played) < quarters:
        raise ScoreError("it is shorter than a clip")
    meter = beats // 3 if compound else beats
    beat = 2 / 3 if compound else unit / 4
    return Score(
        sorted(note for note in played if note[0] < quarters),
        key_label(key.tonic.pitchClass, key.mode),
        meter,
        beat,
        upbeat * beat,
    )


def _upbeat(stream: Any) -> float:
    """Quarter notes of a first bar that is shorter than a bar."""
    first = next(iter(stream.recurse().getElementsByClass("Measure")), None)
    if first is None:
        return 0.0
    length = float(first.duration.quarterLength)
    return length if length < float(first.barDuration.quarterLength) else 0.0
