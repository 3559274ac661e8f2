"""The best constant answer to what a track is: tempo, key, metre and downbeats, fitted on training tracks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Track = Mapping[str, Any]
Judge = Callable[[Track, Mapping[str, Any]], Mapping[str, float]]


def best_constants(training: Sequence[Track], tracks: Sequence[Track], judge: Judge) -> list[dict[str, float]]:
    """The scores of each track under the constant answer that is best in training, measure by measure.

    Args:
        training, tracks: `tempo`, `key`, `meter` and `seconds` of each.
        judge: the measures of a heard answer, as of what is truly heard.
    """
    answers = [_answer(*one) for one in sorted({(one["tempo"], one["key"], _bar(one["meter"])) for one in training})]
    scores = [[judge(track, answer(track)) for track in training] for answer in answers]
    best = {
        name: max(range(len(answers)), key=lambda place: sum(one[name] for one in scores[place]))
        for name in (scores[0][0] if scores else ())
    }
    judged = {place: [judge(track, answers[place](track)) for track in tracks] for place in set(best.values())}
    return [{name: judged[place][row][name] for name, place in best.items()} for row in range(len(tracks))]


def _bar(meter: int) -> int:
    """Beats of a bar as a listener that tells 3 from 4 says them."""
    return {2: 4, 6: 3, 9: 3, 12: 4}.get(meter, meter)


def _answer(tempo: float, key: str, meter: int) -> Callable[[Track], Mapping[str, Any]]:
    def heard(track: Track) -> Mapping[str, Any]:
        beat = 60 / tempo
        bars = int(track["seconds"] / (beat * meter)) + 1
        downbeats = [[place * beat * meter, 1] for place in range(bars)]
        return {"tempo": [[tempo, 1.0]], "key_label": key, "meter": meter, "downbeats": downbeats}

    return heard
