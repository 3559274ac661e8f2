"""Notes as audio, by a General MIDI sound font."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reprlab.music.extra import audio_extra
from reprlab.music.scores import Score
from reprlab.music.settings import RATE
from reprlab.runtime.errors import ReprlabError

_LOUDEST, _ACCENT, _PLAIN = 0.9, 100, 84
# Onsets in thirds of a beat are not exact.
_NEAR = 1e-3


def is_on_beat(onset: float, score: Score) -> bool:
    """Whether a note that begins at `onset` (quarter notes) is on a beat of the metre, which an upbeat shifts.

    Quarters of the file are beats of few jigs (6/8 has dotted quarters) and of no tune with an upbeat of an eighth.
    """
    place = onset * score.beat - score.upbeat
    return abs(place - round(place)) < _NEAR


class SoundFont:
    """A sound font, whose instruments play notes.

    Raises:
        ReprlabError: the file is not a sound font, or tinysoundfont is not installed.
    """

    def __init__(self, path: Path) -> None:
        with audio_extra():
            import tinysoundfont
        self._module = tinysoundfont
        self._path = path
        self._player()

    def _player(self) -> object:
        synth = self._module.Synth(samplerate=RATE)
        try:
            self._font = synth.sfload(str(self._path))
        except Exception as error:
            raise ReprlabError(f"{self._path}: is not a sound font ({error}); delete it and run again") from None
        return synth

    def render(self, score: Score, tempo: float, programme: int, seconds: float) -> np.ndarray:
        """Mono samples [seconds x 44100] of the notes of a score at a tempo in quarter notes a minute, at one loudness.

        Notes on a beat are struck harder, so that there is a beat to be heard.
        """
        synth = self._player()
        synth.program_select(0, self._font, 0, programme)  # type: ignore[attr-defined]
        size = int(seconds * RATE)
        events = []
        for start, length, pitch in score.notes:
            strength = _ACCENT if is_on_beat(start, score) else _PLAIN
            begin, end = (int(at * 60 / tempo * RATE) for at in (start, start + 0.95 * length))
            # At one sample, what ends goes before what begins.
            events += [(begin, 1, pitch, strength), (max(end, begin + 1), 0, pitch, 0)]
        events = sorted(one for one in events if one[0] < size)
        parts, now = [], 0
        for at, starts, pitch, strength in [*events, (size, 0, 0, 0)]:
            if at > now:
                # The buffer is the player's own and is written again.
                parts.append(np.frombuffer(synth.generate(at - now), np.float32).copy())  # type: ignore[attr-defined]
                now = at
            if starts:
                synth.noteon(0, pitch, strength)  # type: ignore[attr-defined]
            elif at < size:
                synth.noteoff(0, pitch)  # type: ignore[attr-defined]
        mono = np.concatenate(parts).reshape(-1, 2).mean(axis=1)
        return (mono * (_LOUDEST / max(float(np.abs(mono).max()), 1e-6))).astype(np.float32)
