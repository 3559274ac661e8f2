"""The page of examples: features of a track drawn, its inputs, its target, and what was written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.artifacts.markdown import plain
from reprlab.music.hearing import KEYS
from reprlab.music.settings import RATE
from reprlab.reporting.figures import house_style, save_figure

Row = Mapping[str, Any]


def chosen_tracks(candidates: Sequence[Row], shown: int) -> list[Row]:
    """Tracks of different genres first: the first of each by name, then the second."""
    seen: dict[str, int] = {}
    ranked = []
    for row in sorted(candidates, key=lambda row: row["track"]):
        kind = row["genre"].split(",")[0]
        seen[kind] = seen.get(kind, 0) + 1
        ranked.append((seen[kind], row["track"], row))
    return [row for _, _, row in sorted(ranked, key=lambda one: one[:2])[:shown]]


def draw_tracks(tracks: Sequence[tuple[Row, Row]], path: Path) -> None:
    """Four panels a track: sound with beats, tempi, key, chords."""
    with house_style():
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(
            4, len(tracks), figsize=(5.6 * len(tracks), 7.2), squeeze=False, layout="constrained"
        )
        for column, (sound, heard) in zip(axes.T, tracks, strict=True):
            _sound(column[0], sound, heard)
            _tempi(column[1], heard)
            _key(column[2], heard)
            _chords(column[3], heard)
        save_figure(figure, [path])


def _sound(panel: Any, sound: Row, heard: Row) -> None:
    size = max(1, len(sound["samples"]) // 2000)
    whole = sound["samples"][: len(sound["samples"]) // size * size].reshape(-1, size)
    times = np.arange(len(whole)) * size / RATE
    panel.fill_between(times, whole.min(1), whole.max(1), color="#0072B2", linewidth=0)
    for at, place in heard["downbeats"]:
        panel.axvline(at, color="#D55E00" if place == 1 else "#999999", linewidth=1.2 if place == 1 else 0.6)
    panel.set(title=sound["track"], xlabel="Second", ylabel="Sound, beats")
    panel.grid(visible=False)


def _tempi(panel: Any, heard: Row) -> None:
    bpm, strength = np.array(heard["tempo"]).T
    panel.bar(bpm, strength, width=2.5)
    panel.set(xlabel="Beats a minute", ylabel="Strength")


def _key(panel: Any, heard: Row) -> None:
    panel.bar(range(len(KEYS)), heard["key"])
    panel.set_xticks(range(len(KEYS)), [key.replace(" major", "").replace(" minor", "m") for key in KEYS], fontsize=6)
    panel.set(xlabel="Key (m: minor)", ylabel="Probability")


def _chords(panel: Any, heard: Row) -> None:
    names = list(dict.fromkeys(label for _, _, label in heard["chords"]))
    for start, end, label in heard["chords"]:
        panel.barh(names.index(label), end - start, left=start, color="#009E73")
    panel.set_yticks(range(len(names)), names)
    panel.set(xlabel="Second", ylabel="Chord")


def page(tracks: Sequence[tuple[Row, Row, Row]], written: Mapping[str, Mapping[str, Row]], picture: str) -> str:
    """The page in Markdown; texts stand in fences, so that what is in them is never markup of the page."""
    parts = ["# Tracks and their descriptions", f"![Sound with beats, tempi, key and chords of each track]({picture})"]
    for about, heard, sound in tracks:
        writers = sorted(set(json.loads(about["written_by"]).values()))
        parts += [f"## {plain(about['track'])}", f"Texts by: {', '.join(map(plain, writers))}.", "Heard by madmom:"]
        features = {name: heard[name] for name in ("bpm", "key_label", "meter", "n_downbeats", "chord_progression")}
        parts += [_fenced(json.dumps(features, ensure_ascii=False))]
        if sound["kind"] == "rendered":
            parts += [f"Known: {sound['tempo']:g} beats a minute, {sound['key']}, {sound['meter']} beats a bar."]
        for title, name in (("Caption", "caption"), ("Unified caption", "unified"), ("Target", "description")):
            parts += [f"{title}:", _fenced(about[name])]
        for title, texts in written.items():
            row = texts.get(about["track"])
            if row is not None:
                title = plain(title)
                parts += [f"Input ({title}):", _fenced(row["prompt"]), f"Written ({title}):", _fenced(row["text"])]
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"
