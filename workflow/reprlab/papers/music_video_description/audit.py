"""The audit: what needs neither training nor data nor network, by the numbers of section 5 of the specification."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from reprlab.music.forms import frame_count
from reprlab.music.hearing import KEYS
from reprlab.reporting.audit import AGREES, DIFFERS, AuditRow, rounded
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import equal
from reprlab.results.words import printed_of

SLUG = "music-video-description"
TABLES = printed_of(SLUG).declarations()
_SCORES = printed_of(SLUG).tables["table1"].values
_Row = tuple[str, str, object, object, str]


def rows(given: Given) -> Iterator[AuditRow]:
    """All rows of the audit."""
    for id, what, printed, recomputed, note in (
        *_counts(given), *_example(given), *_table1(given),
    ):  # fmt: skip
        same = equal(str(printed), str(recomputed))
        yield AuditRow(id, what, str(printed), str(recomputed), AGREES if same else DIFFERS, note)


def _counts(given: Given) -> Iterator[_Row]:
    said = {name: int(given.said[name]) for name in ("train", "test", "clip_seconds", "frame_seconds")}
    yield (
        "5.1",
        "Training and test samples are those that are kept",
        given.said["kept"],
        said["train"] + said["test"],
        "",
    )
    frames = frame_count(said["clip_seconds"], said["frame_seconds"])
    yield "5.2", "Frames of a clip, and items of Figure 4", given.said["frames"], frames, ""


def _example(given: Given) -> Iterator[_Row]:
    """Figure 3: what must hold of madmom's output holds of the printed one, and what does not."""
    tempo, beats, key, chords = (
        list(given.cells[f"fig3_{name}"].values()) for name in ("tempo", "beats", "key", "chords")
    )
    lags = [6000 / float(row["bpm"]) for row in tempo]
    whole = sum(abs(lag - round(lag)) < 1e-6 for lag in lags)
    yield "5.8b", "Tempi that are 6,000 over a whole lag", len(tempo), whole, "frames of 10 ms"
    total = rounded(sum((Decimal(row["strength"]) for row in tempo), Decimal(0)), 4)
    yield "5.8c", "Sum of the strengths", "one", "one" if total == 1 else total, ""
    times = [float(row["time"]) for row in beats]
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    median = (gaps[len(gaps) // 2] + gaps[(len(gaps) - 1) // 2]) / 2
    top = rounded(Decimal(tempo[0]["bpm"]), 1)
    yield "5.9a", "Median gap of the beats is the first tempo", top, rounded(Decimal(60 / round(median, 4)), 1), ""
    beat = f"{60 / float(tempo[0]['bpm']):.2f}"
    note = "a beat is missing" if gaps[-1] > 1.5 * gaps[0] else ""
    yield "5.9b", "Largest gap of the beats, s: one beat of the first tempo", beat, f"{gaps[-1]:.2f}", note
    values = [float(row["probability"]) for row in key]
    total = rounded(Decimal(sum(values)), 5)
    note = "further off than float rounding: a digit is damaged"
    yield "5.10a", "Sum of the probabilities of keys", "one", "one" if total == 1 else total, note
    ranked = sorted(range(len(values)), key=lambda place: -values[place])
    yield (
        "5.10b",
        "The likeliest key and the next are relatives",
        "Bb major, G minor",
        ", ".join(KEYS[one] for one in ranked[:2]),
        "",
    )
    joined = all(float(one["end"]) == float(two["start"]) for one, two in pairwise(chords))
    yield "5.11b", "Chords follow each other without a gap", True, joined, ""
    twice = sum(one["label"] == two["label"] for one, two in pairwise(chords))
    yield "5.11c", "Chords that are that of the one before", 0, twice, "madmom joins equal neighbours"
    odd = sum(row["label"] != "N" and ":" not in row["label"] for row in chords)
    yield "5.11d", "Labels without a colon", 0, odd, "madmom writes one in every label"


def _table1(given: Given) -> Iterator[_Row]:
    printed = list(given.cells["table1"].values())
    for number, row in enumerate(printed, 1):
        p, r, f = (Decimal(row[f"rouge_{side}"]) for side in ("p", "r", "f1"))
        where = f"{row['section']} {row['inputs']}"
        whole = rounded(2 * p * r / (p + r), 2)
        what = f"{where}: ROUGE-L F1 {f} is not above the harmonic mean of the mean precision and recall, {whole}"
        yield f"5.12.{number}", what, True, f <= whole, "F1 is the mean of the F1 of texts"
    fine = [row for row in printed if row["section"] in ("main", "ablation")]
    main, fewer = (next(row for row in fine if row["inputs"] == inputs) for inputs in ("1234", "123"))
    level = sum(Decimal(fewer[name]) >= Decimal(main[name]) for name in _SCORES)
    shown = "comparable or better" if level == len(_SCORES) else f"in {level} of {len(_SCORES)} columns"
    what = "Three inputs, 123, beside all four (section 3.2)"
    yield "6.1", what, "comparable or better", shown, "the fourth input adds nothing"
