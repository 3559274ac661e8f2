"""The forms of annotations: types of a video, the instruction, the layout of inputs, the parts of a description."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from reprlab.inference.written_forms import bare, without_fence

TYPES = (
    "Live Performance", "Lyric Video", "Animation", "Story Narrative", "Artistic/Abstract", "Dance Performance",
    "Behind-the-Scenes", "Nature/Scenic", "Static/Dynamic Picture Montage", "Cinematic Drama",
)  # fmt: skip
"""Types of a music video (paper, section 2.1.2)."""
OVERVIEW, BREAKDOWN = "# Overview", "# Frame-by-frame Breakdown"
INSTRUCTION = (
    "Generate a concise video prompt that captures the essence of the MV, incorporating the music’s tone, style, and "
    "lyrical themes. The prompt should reflect the specified MV type and align with the music genre to ensure "
    "stylistic coherence for guiding a text-to-video model."
)
"""The fixed instruction (paper, section 2.1.2)."""
CAPTION_INSTRUCTION = "Describe the music."
"""Ours: the paper does not print that of the first stage."""
AUDIO = "<Audio>"
"""Stands for the states of the audio in the text of an input."""
_ITEM = re.compile(r"(\d+)\. \*\*([^*\n]+)\*\*: (\S[^\n]*)")


def input_text(track: Mapping[str, Any], inputs: str) -> str:
    """The fields of the wanted inputs, one a line; `AUDIO` stands where the music is (layout ours)."""
    fields = {
        "1": f"Music: {AUDIO}",
        "2": f"Music genre: {_line(track['genre'])}",
        "3": f"MV type: {_line(track['type'])}",
        "4": f"Lyrics understanding: {_line(track['lyrics_text'])}",
    }
    return "\n".join(fields[one] for one in inputs)


def _line(text: str) -> str:
    """One line that holds no placeholder: text from data stands for itself."""
    return " ".join(str(text).replace(AUDIO, "").split())


def frame_count(seconds: float, frame_seconds: float) -> int:
    """Frames of a clip, one at the start of each interval: 15 of 30 s."""
    return max(1, int(seconds / frame_seconds + 1e-9))


def description_problem(text: str, frames: int) -> str:
    """What is wrong with a description; "" if it has both headings, an overview and one item for each frame."""
    head, found, rest = without_fence(text).partition(BREAKDOWN)
    if not head.startswith(OVERVIEW) or not found:
        return f"it must have the headings {OVERVIEW!r} and {BREAKDOWN!r}"
    if not head.removeprefix(OVERVIEW).strip():
        return f"nothing stands below {OVERVIEW!r}"
    numbers = [int(number) for number, _, _ in _ITEM.findall(rest)]
    if numbers != list(range(1, frames + 1)):
        return (
            f"it must have the items 1 to {frames}, each `N. **Title**: sentence`, and has {len(numbers)} of this form"
        )
    return ""


def type_of(text: str) -> str:
    """The type that an answer names, whatever is written around it and in whatever case; else the answer as it is.

    A sentence that names one type alone says it (`The type is **Animation**.`).
    """
    said = bare(text).casefold()
    named = [one for one in TYPES if re.search(rf"(?<!\w){re.escape(one.casefold())}(?!\w)", said)]
    return named[0] if len(named) == 1 else text.strip()


def frames_of(text: str) -> list[str]:
    """The captions of an answer: the JSON list of texts in it, in a fence, an object, or among words. Empty: none."""
    text = without_fence(text)
    try:
        found = json.loads(text[text.find("[") : text.rfind("]") + 1])
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list) or not all(isinstance(one, str) and one.strip() for one in found):
        return []
    return found


def type_problem(text: str) -> str:
    """What is wrong with a type of a video."""
    return "" if type_of(text) in TYPES else f"it must be one of {', '.join(TYPES)}, and nothing else"


def frames_problem(text: str, frames: int) -> str:
    """What is wrong with captions of frames: a JSON list of so many texts is wanted."""
    return "" if frames and len(frames_of(text)) == frames else f"it must be a JSON list of {frames} texts"


def text_problem(text: str) -> str:
    """What is wrong with a free text."""
    return "" if without_fence(text) else "it must not be empty"
