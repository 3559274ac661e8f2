"""The template annotator: a grammar of ours in the role of the paper's language models, since no package has videos.

Targets are synthetic; the music and its features are real. Each input says what the others do not: the type chooses
places and things, the music chooses tempo, light and movement (of each frame the loudness and the changes of chord),
and the genre tags and the text on the lyrics say one and the same mood. So the two are interchangeable by construction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from reprlab.music.forms import BREAKDOWN, OVERVIEW, TYPES

MOODS = ("joyful", "solemn", "restless", "tender", "defiant", "dreamlike")
_THEMES = {
    "joyful": "a bright celebration shared among friends",
    "solemn": "a quiet farewell and what remains of it",
    "restless": "an escape through sleepless streets",
    "tender": "a slow approach of two people in love",
    "defiant": "a refusal to give in to the crowd",
    "dreamlike": "a memory that shifts as it is told",
}
# Of each type: the place, and things that frames show.
_SCENES = {
    "Live Performance": ("on a crowded stage", ("Drummer", "Guitars", "Crowd", "Microphone")),
    "Lyric Video": ("on a plain printed page", ("Letters", "Words", "Handwriting", "Margins")),
    "Animation": ("in a hand-drawn world", ("Fox", "Paper Boat", "Sketches", "Paper Moon")),
    "Story Narrative": ("in a small seaside town", ("Letter", "Stranger", "Doorway", "Harbour")),
    "Artistic/Abstract": ("in an empty white space", ("Triangles", "Mirrors", "Smoke", "Spheres")),
    "Dance Performance": ("in a wooden rehearsal hall", ("Dancers", "Footsteps", "Leap", "Circle")),
    "Behind-the-Scenes": ("in a cluttered studio", ("Cables", "Cameras", "Mixing Desk", "Laughter")),
    "Nature/Scenic": ("in a wide mountain valley", ("River", "Pines", "Clouds", "Meadow")),
    "Static/Dynamic Picture Montage": ("among old photographs", ("Portrait", "Postcard", "Album", "Negatives")),
    "Cinematic Drama": ("in a rain-soaked city", ("Headlights", "Staircase", "Embrace", "Window")),
}
_TEMPI, _LIGHTS = ("slow", "steady", "fast"), {"major": "golden", "minor": "blue"}
_MOVES = ("drifts across", "follows", "rushes past")


def classes(heard: Mapping[str, Any], loudness: float) -> dict[str, str]:
    """Words for tempo (bounds 90 and 125 a minute), light (mode) and loudness (-26 and -18 dB) of a track."""
    tempo = _TEMPI[int(np.digitize(heard["bpm"], (90, 125)))]
    energy = ("soft", "moderate", "loud")[int(np.digitize(loudness, (-26, -18)))]
    return {"tempo": tempo, "light": _LIGHTS[heard["key_label"].split()[1]], "energy": energy}


def movements(levels: list[float], heard: Mapping[str, Any], frame_seconds: float) -> list[str]:
    """What the camera does in each frame: one step livelier for loudness over the median, one for changes of chord."""
    starts = [start for start, _, _ in heard["chords"][1:]]
    changes = [
        sum(place * frame_seconds <= at < (place + 1) * frame_seconds for at in starts) for place in range(len(levels))
    ]
    middle = float(np.median(levels))
    return [_MOVES[int(level > middle) + int(count >= 2)] for level, count in zip(levels, changes, strict=True)]


def mood_of(track: Mapping[str, Any], seed: int) -> str:
    """The mood of a track, drawn by its name."""
    return MOODS[int(_drawn(track, seed, "mood").integers(len(MOODS)))]


def genre_tags(track: Mapping[str, Any], seed: int) -> str:
    """Genre and mood."""
    return f"{track['genre']}, {mood_of(track, seed)}"


def _drawn(track: Mapping[str, Any], seed: int, what: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed} {what} {track['track']}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def write(step: str, track: Mapping[str, Any], seed: int) -> str:
    """The text of a step for a track, which holds what the steps before it gave."""
    heard, words = track["heard"], classes(track["heard"], track["loudness"])
    if step == "caption":
        return (
            f"The clip is {track['genre']} music with a {words['tempo']} tempo of about {heard['bpm']:.0f} beats a "
            f"minute. It is in {heard['key_label']} and {words['energy']}."
        )
    if step == "lyrics":
        mood = mood_of(track, seed)
        return f"The words are {mood} and tell of {_THEMES[mood]}."
    if step == "unified":
        chords = ", ".join(heard["chord_progression"][:4])
        return f"{track['caption']} The bars have {heard['meter']} beats, and the harmony moves through {chords}."
    if step == "type":
        return str(_drawn(track, seed, "type").choice(TYPES))
    place, things = _SCENES[track["type"]]
    moves = movements(track["levels"], heard, track["frame_seconds"])
    if step == "frames":
        rng = _drawn(track, seed, "things")
        shown = [things[one] for one in rng.integers(len(things), size=len(moves))]
        return json.dumps(
            [f"{thing}: The camera {move} the {thing.lower()}." for thing, move in zip(shown, moves, strict=True)]
        )
    mood = mood_of(track, seed)
    items = [caption.split(": ", 1) for caption in track["frames"]]
    lines = [f"{place}. **{title}**: {text}" for place, (title, text) in enumerate(items, 1)]
    return "\n".join(
        [
            OVERVIEW,
            f"A {mood} video set {place} in {words['light']} light. It keeps a {words['tempo']} pace and tells of "
            f"{_THEMES[mood]}.",
            BREAKDOWN,
            *lines,
        ]
    )
