"""The data pipeline: six texts of each track, by a template or a chat model, checked, retried, and within a budget."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.inference.chat import Endpoint, converse, unanswered
from reprlab.inference.spending import Ledger, Prices, prompt_tokens
from reprlab.inference.written_forms import without_fence
from reprlab.music import forms, template
from reprlab.music.settings import RATE, AnnotationSettings
from reprlab.runtime.errors import ReprlabError

STEPS = ("caption", "lyrics", "unified", "type", "frames", "description")
"""Steps in their order (paper, section 2.1): each may read the texts of those before it."""
# Ours: the paper prints none. An edit changes the requests, so that they are asked anew.
_PROMPTS = {
    "caption": "Genre: {genre}\nFeatures: {features}\nDescribe this music clip in two sentences.",
    "lyrics": "Genre: {genre}\nLyrics: {lyrics}\nSay in one sentence what the lyrics mean and feel like.",
    "unified": "Music captions: {caption}\nLow-level music features: {features}\n"
    "Join both into one natural, coherent text about the music.",
    "type": "Captions of the music: {unified}\nLyrics: {lyrics_text}\n"
    "Which type is the music video? Answer with exactly one of: {types}.",
    "frames": "Music: {unified}\nType of the video: {type}\nCaption {count} frames, one each {frame_seconds:g} s. "
    "Answer with a JSON list of {count} texts of the form `Title: sentence.` and nothing else.",
    "description": "Video captions: {frames}\nUnified music captions: {unified}\nLyrics understanding: {lyrics_text}\n"
    f"Write a description of the video that fits the music: the heading `{forms.OVERVIEW}` and one paragraph, then the "
    f"heading `{forms.BREAKDOWN}` and a list of "
    "{count} items, each `N. **Title**: one sentence.`",
}
_FIELD = {"lyrics": "lyrics_text"}


@dataclass
class Spent:
    """What a run of steps asks for."""

    requests: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0

    def dollars(self, settings: AnnotationSettings) -> float:
        """Its price."""
        return prices_of(settings).dollars(self.prompt_tokens, self.answer_tokens)


def prices_of(settings: AnnotationSettings) -> Prices:
    """Prices of the settings; an image has the most tokens of any model where theirs is not listed."""
    listed = settings.image_tokens.get(settings.chat.model, {})
    others = [own[settings.image_detail] for own in settings.image_tokens.values() if settings.image_detail in own]
    image = listed.get(settings.image_detail, max(others, default=0))
    return Prices(settings.prompt_price, settings.answer_price, image)


@dataclass
class Annotator:
    """Writes the steps of tracks.

    `budget` is in dollars, for these tracks and all starts. `served` opens the endpoint of the backend `local`.
    """

    settings: AnnotationSettings
    cache: Path
    budget: float | None = None
    served: Callable[[], AbstractContextManager[Endpoint | None]] = nullcontext
    ledger: Ledger | None = field(default=None, init=False)

    def annotate(self, tracks: Sequence[dict[str, Any]]) -> None:
        """Fill in all texts of the tracks, step by step; `written_by` says who wrote each.

        Raises:
            ReprlabError: an answer has not the wanted form after all attempts, the budget does not suffice for the next
                step, or the endpoint refuses. What was answered is kept: the same command goes on from there.
        """
        if self.settings.backend == "chat":
            self.ledger = self._open_ledger(tracks)
        with self.served() as endpoint:
            for step in STEPS:
                if self.settings.backend == "template":
                    texts, writers = (
                        [template.write(step, one, self.settings.seed) for one in tracks],
                        ["template"] * len(tracks),
                    )
                else:
                    texts, writers = self._asked(step, tracks, endpoint)
                for track, text, writer in zip(tracks, texts, writers, strict=True):
                    place(track, step, text)
                    track.setdefault("written_by", {})[step] = writer

    def _open_ledger(self, tracks: Sequence[dict[str, Any]]) -> Ledger:
        """Payments of these tracks, whatever start of the run made them; they cost the same under another budget.

        Raises:
            ReprlabError: there are frames and a budget, and nobody says how many tokens an image of the model has.
        """
        settings, chat = self.settings, self.settings.chat
        known = settings.image_detail in settings.image_tokens.get(chat.model, {})
        if self.budget is not None and not known and any(one["video"] for one in tracks):
            raise ReprlabError(
                f"annotation.image_tokens: no tokens of an image of {chat.model} at detail {settings.image_detail}, "
                "so that no budget can be kept; add what its endpoint bills, or set annotation.budget to null"
            )
        whose = json.dumps([[one["track"] for one in tracks], chat.model, chat.base_url])
        name = hashlib.sha256(whose.encode()).hexdigest()
        return Ledger(self.cache / "spent" / f"{name}.jsonl", prices_of(settings), self.budget, "annotation.budget")

    def _asked(
        self, step: str, tracks: Sequence[dict[str, Any]], endpoint: Endpoint | None
    ) -> tuple[list[str], list[str]]:
        settings = self.settings
        talks = [conversation(step, one, settings.image_detail) for one in tracks]
        texts, open_places = [""] * len(tracks), list(range(len(tracks)))
        problems: dict[int, str] = {}
        writer = endpoint.name if endpoint else settings.chat.model
        for _ in range(settings.attempts):
            asked = [talks[place] for place in open_places]
            self._require_budget(step, asked)
            answers = converse(asked, settings.chat, self.cache, endpoint=endpoint, purse=self.ledger)
            problems = {}
            for at, answer in zip(open_places, answers, strict=True):
                texts[at] = answer.text.strip()
                if problem := checks(step, tracks[at])(texts[at]):
                    problems[at] = problem
                    # The next attempt is another request, which says what was wrong.
                    said = f"That is not usable: {problem}. Answer again."
                    talks[at] = [
                        *talks[at],
                        {"role": "assistant", "content": answer.text},
                        {"role": "user", "content": said},
                    ]
            open_places = list(problems)
            if not open_places:
                break
        if problems and not settings.fallback:
            at, problem = next(iter(problems.items()))
            raise ReprlabError(
                f"{tracks[at]['track']}: {step} by {writer}: {problem}, after {settings.attempts} "
                "attempts; take another model, more attempts, or set fallback=true"
            )
        for at in problems:
            texts[at] = template.write(step, tracks[at], settings.seed)
        return texts, ["template" if at in problems else writer for at in range(len(tracks))]

    def _require_budget(self, step: str, asked: Sequence[Sequence[Mapping[str, Any]]]) -> None:
        if self.budget is None or self.ledger is None:
            return
        new = unanswered(asked, self.settings.chat, self.cache)
        total = self.ledger.spent + estimate(new, self.settings).dollars(self.settings)
        if new and total > self.budget:
            raise ReprlabError(
                f"annotation: the step {step} may bring the cost to ${total:.4f}, over the ${self.budget:.4f} of "
                "these tracks; raise annotation.budget or take fewer tracks: what was answered is kept"
            )


def place(track: dict[str, Any], step: str, text: str) -> None:
    """Put the text of a step where the steps behind it find it; captions of frames are a list."""
    read: dict[str, Callable[[str], Any]] = {"frames": forms.frames_of, "type": forms.type_of}
    track[_FIELD.get(step, step)] = read.get(step, without_fence)(text)


def conversation(step: str, track: Mapping[str, Any], detail: str = "low") -> list[dict[str, Any]]:
    """The request of a step; captions of frames see the frames, where the track has some."""
    heard = track["heard"]
    features = {name: heard[name] for name in ("bpm", "key_label", "meter", "chord_progression")}
    words = {**track, "features": json.dumps(features), "types": ", ".join(forms.TYPES), "count": len(track["levels"])}
    words["lyrics"] = track["lyrics"] or "none"
    text = _PROMPTS[step].format_map(words)
    folder = track["video"] if step == "frames" else ""
    if not folder:
        return [{"role": "user", "content": text}]
    paths = [*sorted(Path(folder).glob("*.jpg")), *sorted(Path(folder).glob("*.png"))][: len(track["levels"])]
    images = [
        {
            "type": "image_url",
            "image_url": {
                "url": f"data:image/{_kind(path)};base64,{base64.b64encode(path.read_bytes()).decode()}",
                "detail": detail,
            },
        }
        for path in paths
    ]
    return [{"role": "user", "content": [{"type": "text", "text": text}, *images]}]


def _kind(path: Path) -> str:
    return "png" if path.suffix == ".png" else "jpeg"


def checks(step: str, track: Mapping[str, Any]) -> Callable[[str], str]:
    """The function that says what is wrong with an answer."""
    frames = len(track["levels"])
    own: dict[str, Callable[[str], str]] = {
        "type": forms.type_problem,
        "frames": partial(forms.frames_problem, frames=frames),
        "description": partial(forms.description_problem, frames=frames),
    }
    return own.get(step, forms.text_problem)


def estimate(conversations: Sequence[Sequence[Mapping[str, Any]]], settings: AnnotationSettings) -> Spent:
    """What conversations cost, of answers that are as long as they may be; see `inference.spending.prompt_tokens`."""
    image = prices_of(settings).image_tokens
    sent = sum(prompt_tokens(one, image) for one in conversations)
    return Spent(len(conversations), sent, len(conversations) * settings.chat.max_tokens)


def estimated_steps(tracks: Sequence[dict[str, Any]], settings: AnnotationSettings) -> dict[str, Spent]:
    """The cost of each step before anything is asked: the template's texts stand for the answers to come."""
    found = {}
    for step in STEPS:
        found[step] = estimate([conversation(step, one, settings.image_detail) for one in tracks], settings)
        for one in tracks:
            place(one, step, template.write(step, one, settings.seed))
    return found


def levels_of(samples: np.ndarray, frame_seconds: float) -> tuple[float, list[float]]:
    """Loudness in dB (root mean square against full scale) of a track, and of the sound of each of its frames."""
    size = int(frame_seconds * RATE)
    frames = forms.frame_count(len(samples) / RATE, frame_seconds)
    each = [_decibels(samples[place * size : (place + 1) * size]) for place in range(frames)]
    return _decibels(samples), each


def _decibels(samples: np.ndarray) -> float:
    return float(10 * np.log10(np.mean(np.square(samples, dtype=np.float64)) + 1e-10))
