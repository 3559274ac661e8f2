"""Accuracy of what madmom hears in rendered tracks, by the field's measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reprlab.baselines.track_labels import best_constants
from reprlab.evaluation.resampling import binomial_interval
from reprlab.music.hearing import key_score, same_tempo

_OCTAVES = (1.0, 2.0, 0.5, 3.0, 1 / 3)
_NEAR = 0.07
BEST_CONSTANT = "best constant"
_MEASURES = ("tempo", "tempo_octave", "tempo_candidate", "key", "key_weighted", "meter", "downbeats")


def feature_rows(tracks: Sequence[Mapping[str, Any]], heard: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row a track: what is heard, and what is known; cells are empty where nothing is."""
    rows = []
    for one in tracks:
        found = heard[one["track"]]
        row = {name: one[name] for name in ("track", "kind", "genre", "split")}
        row |= {name: found[name] for name in ("bpm", "key_label", "n_downbeats")} | {"beats": found["meter"]}
        row["chords"] = " ".join(found["chord_progression"])
        known = {"known_bpm": one["tempo"], "known_key": one["key"], "known_meter": one["meter"]}
        row |= known if one["kind"] == "rendered" else dict.fromkeys(known, "")
        rows.append(row | (right(one, found) if one["kind"] == "rendered" else {}))
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name, "") for name in names} for row in rows]


def right(one: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, float]:
    """How right a heard answer is for a rendered track, measure by measure, 0 to 1."""
    tempi = [bpm for bpm, _ in found["tempo"]]
    downbeats = np.array([at for at, place in found["downbeats"] if place == 1])
    return {
        "tempo": float(same_tempo(tempi[0], one["tempo"])) if tempi else 0.0,
        "tempo_octave": float(same_tempo(tempi[0], one["tempo"], _OCTAVES)) if tempi else 0.0,
        "tempo_candidate": float(any(same_tempo(bpm, one["tempo"], _OCTAVES) for bpm in tempi)),
        "key": float(found["key_label"] == one["key"]),
        "key_weighted": key_score(found["key_label"], one["key"]),
        # madmom tells 3 from 4 alone; two beats are half of four.
        "meter": float(found["meter"] == {2: 4, 6: 3, 9: 3, 12: 4}.get(one["meter"], one["meter"])),
        "downbeats": _f_measure(downbeats, _bars(one)),
    }


def _bars(one: Mapping[str, Any]) -> np.ndarray:
    """Starts of the bars of a rendered track in seconds; the upbeat is at the beginning."""
    length = 60 / one["tempo"] * one["meter"]
    return np.arange(60 / one["tempo"] * one["upbeat"], one["seconds"], length)


def _f_measure(found: np.ndarray, known: np.ndarray) -> float:
    """F of times within 70 ms, each used once."""
    if not len(found) or not len(known):
        return 0.0
    near = np.abs(found[:, None] - known[None, :]) <= _NEAR
    hits = min(int(near.any(0).sum()), int(near.any(1).sum()))
    return 2 * hits / (len(found) + len(known))


def constant_rows(tracks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row for each rendered track: how right the constant answer is that is best on those of training."""
    rendered = [one for one in tracks if one["kind"] == "rendered"]
    training = [one for one in rendered if one["split"] == "train"] or rendered
    found = best_constants(training, rendered, right)
    return [
        {**{name: one[name] for name in ("kind", "genre")}, **row} for one, row in zip(rendered, found, strict=True)
    ]


def accuracy_rows(rows: Sequence[Mapping[str, Any]], name: str = "heard") -> list[dict[str, Any]]:
    """Mean of each measure over the rendered tracks of each genre, and of all, in percent; `name` says whose it is."""
    judged = [row for row in rows if row["kind"] == "rendered"]
    found = []
    for genre in ["all", *dict.fromkeys(row["genre"] for row in judged)]:
        own = [row for row in judged if genre in ("all", row["genre"])]
        for metric in _MEASURES:
            values = [row[metric] for row in own]
            about = {"name": name, "genre": genre, "metric": metric, "value": 100 * float(np.mean(values))}
            low: float | str = ""
            high: float | str = ""
            if set(values) <= {0.0, 1.0}:
                low, high = (100 * bound for bound in binomial_interval(int(sum(values)), len(values), 0.95))
            found.append({**about, "n": len(values), "low": low, "high": high})
    return found
