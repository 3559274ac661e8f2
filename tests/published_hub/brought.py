"""What users bring to a run and no archive has: a folder of music in the form of music-video-description's page."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import soundfile
from PIL import Image

from tests.published_hub.texts import sentence

_RATE = 44_100
_SECONDS = 31
_TRACKS = 6
_FRAMES = 15
_GENRES = ["rock, pop", "folk", "electronic"]


def music4all() -> dict[str, bytes]:
    """Files of the folder: clips of half a minute with lyrics, genres and splits; two have frames, one of them of one
    still picture."""
    files: dict[str, bytes] = {}
    rows = ["track\tfile\tgenre\tlyrics\tsplit\tvideo"]
    for number in range(_TRACKS):
        rng = random.Random(number)
        name, frames = f"track{number}", f"frames{number}" if number < 2 else ""
        files[f"{name}.wav"] = _song(rng)
        lyrics = " ".join(sentence(rng) for _ in range(3)) if number % 2 == 0 else ""
        split = ["train", "train", "test", ""][number % 4]
        rows.append("\t".join([name, f"{name}.wav", _GENRES[number % len(_GENRES)], lyrics, split, frames]))
        for place in range(_FRAMES if frames else 0):
            files[f"{frames}/{place:03d}.jpg"] = _picture(16 * place if number == 0 else 100)
    files["tracks.tsv"] = "".join(f"{row}\n" for row in rows).encode()
    return files


def _song(rng: random.Random) -> bytes:
    """A chord a second, four beats each."""
    time = np.arange(_RATE) / _RATE
    beat = np.exp(-8 * (time % 0.25))
    roots = [220 * 2 ** (rng.choice([0, 3, 5, 7, 10]) / 12) for _ in range(_SECONDS)]
    chords = [sum(np.sin(2 * np.pi * root * step * time) for step in (1, 1.25, 1.5)) * beat for root in roots]
    written = io.BytesIO()
    soundfile.write(written, 0.2 * np.concatenate(chords), _RATE, format="WAV")
    return written.getvalue()


def _picture(grey: int) -> bytes:
    written = io.BytesIO()
    Image.new("L", (64, 48), grey).save(written, format="JPEG")
    return written.getvalue()


def write_brought(home: Path) -> None:
    """Put what a user brings into the folder in which runs lie, where the settings look for it."""
    for name, content in music4all().items():
        path = home / "data/music4all" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
