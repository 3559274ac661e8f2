"""What madmom hears in a track: tempo, key, downbeats and chords, kept by the digest of its samples.

The processors are those of LLark's recipe (Gardner et al. 2024, `m2t/annotation.py`), which the paper follows; its
models are CC BY-NC-SA 4.0.
"""

from __future__ import annotations

import functools
import hashlib
import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.artifacts.kept import Kept, made_by
from reprlab.music.extra import audio_extra
from reprlab.music.settings import RATE

MAJOR = ("A", "Bb", "B", "C", "Db", "D", "Eb", "E", "F", "F#", "G", "Ab")
MINOR = ("A", "Bb", "B", "C", "C#", "D", "D#", "E", "F", "F#", "G", "G#")
KEYS = (*(f"{name} major" for name in MAJOR), *(f"{name} minor" for name in MINOR))
"""The 24 keys in the order of madmom's network."""
_FRAMES, _GRID = 100, 10


def hear(samples: np.ndarray, cache: Path) -> dict[str, Any]:
    """Features of mono samples at 44.1 kHz: `tempo` [[bpm, strength]], `key` (24 probabilities), `downbeats` [[s, place
    in the bar]], `chords` [[start, end, label]]; and `bpm`, `key_label`, `meter`, `n_downbeats`, `chord_progression`.

    They lie in `cache` by the samples, this code and the versions of what it is built on: a track is heard once,
    whatever asks (`artifacts.kept`).

    Raises:
        ReprlabError: madmom is not installed.
    """
    # 16 bits, as tracks are kept: the same sound has the same digest, whoever decodes it.
    whole = np.round(np.clip(samples, -1, 1) * 32767).astype("<i2")
    kept = Kept(cache, "what was heard in a track")
    by = {"samples": hashlib.sha256(whole.tobytes()).hexdigest(), "rate": RATE, **_made_by()}
    if (found := kept.read(by)) is None:
        found = described(_raw(whole))
        kept.keep(by, found)
    # As it comes back from a file, whether it was heard now or before.
    return json.loads(json.dumps(found))


@functools.cache
def _made_by() -> dict[str, Any]:
    return made_by(__name__)


def described(raw: dict[str, Any]) -> dict[str, Any]:
    """Raw features with what follows from them; `key` is one row of 24 probabilities."""
    beats, chords = raw["downbeats"], raw["chords"]
    labels = [label for _, _, label in chords]
    return {
        **raw,
        "bpm": round(raw["tempo"][0][0], 1) if raw["tempo"] else 0.0,
        "key_label": KEYS[int(np.argmax(raw["key"]))],
        "meter": int(max((place for _, place in beats), default=0)),
        "n_downbeats": sum(place == 1 for _, place in beats),
        "chord_progression": [label for last, label in zip(["", *labels], labels, strict=False) if label != last],
    }


@functools.cache
def _processors() -> dict[str, Any]:
    with audio_extra():
        from madmom.features import beats, chords, downbeats, key, tempo

    return {
        "beats": beats.RNNBeatProcessor(),
        "tempo": tempo.TempoEstimationProcessor(fps=_FRAMES),
        "downbeats": downbeats.RNNDownBeatProcessor(),
        "bars": downbeats.DBNDownBeatTrackingProcessor(beats_per_bar=[3, 4], fps=_FRAMES),
        "key": key.CNNKeyRecognitionProcessor(),
        "chord_features": chords.CNNChordFeatureProcessor(),
        "chords": chords.CRFChordRecognitionProcessor(),
    }


def _signal(samples: np.ndarray) -> Any:
    with audio_extra():
        from madmom.audio.signal import Signal
    # A bare array would be taken for 44.1 kHz as well, but this says it.
    return Signal(samples, sample_rate=RATE, num_channels=1)


def _raw(samples: np.ndarray) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        use, signal = _processors(), _signal(samples)
        return {
            "tempo": _numbers(use["tempo"](use["beats"](signal))),
            "key": [float(one) for one in use["key"](signal)[0]],
            "downbeats": _numbers(use["bars"](use["downbeats"](signal))),
            "chords": [
                [round(float(start), 3), round(float(end), 3), str(label)]
                for start, end, label in use["chords"](use["chord_features"](signal))
            ],
        }


def chord_states(samples: np.ndarray) -> np.ndarray:
    """States [frames, 128] of madmom's network of chords before its output, ten a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = np.round(np.clip(samples, -1, 1) * 32767).astype("<i2")
        return np.asarray(_processors()["chord_features"](_signal(whole)), dtype=np.float32)


def _numbers(rows: Iterable[Iterable[float]]) -> list[list[float]]:
    return [[float(one) for one in row] for row in rows]


def same_tempo(found: float, known: float, octaves: tuple[float, ...] = (1.0,), tolerance: float = 0.04) -> bool:
    """Whether a tempo is the known one within 4 %, as the field has it, or a multiple of it by one of `octaves`."""
    return known > 0 and any(abs(found / (known * factor) - 1) <= tolerance for factor in octaves)


def key_score(found: str, known: str) -> float:
    """The weighted score of MIREX: 1 for the key, 0.5 a fifth above, 0.3 for the relative, 0.2 for the parallel one."""
    place, other = KEYS.index(found), KEYS.index(known)
    tonic, mode = place % 12, place // 12
    wanted, wanted_mode = other % 12, other // 12
    if place == other:
        return 1.0
    if mode == wanted_mode:
        return 0.5 if (tonic - wanted) % 12 == 7 else 0.0
    relative = (wanted - 3 if wanted_mode == 0 else wanted + 3) % 12
    return 0.3 if tonic == relative else 0.2 if tonic == wanted else 0.0
