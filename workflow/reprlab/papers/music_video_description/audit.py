"""The audit: what needs neither training nor data nor network, by the numbers of section 5 of the specification."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

from reprlab.music.forms import TYPES, frame_count
from reprlab.music.hearing import KEYS
from reprlab.reporting.audit import AGREES, DIFFERS, AuditRow, rounded
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import equal
from reprlab.results.words import printed_of

SLUG = "music-video-description"
TABLES = printed_of(SLUG).declarations()
_SCORES = printed_of(SLUG).tables["table1"].values
_HYPOTHESIS = "the cat sat on a mat and looked at a moon"
_REFERENCE = "the cat sat on the mat and looked at the moon"
_KNOWN = "known answer"
_Row = tuple[str, str, object, object, str]


def rows(given: Given) -> Iterator[AuditRow]:
    """All rows of the audit."""
    for id, what, printed, recomputed, note in (
        *_counts(given), *_parameters(given), *_example(given), *_table1(given), *_scores(),
    ):  # fmt: skip
        same = equal(str(printed), str(recomputed))
        yield AuditRow(id, what, str(printed), str(recomputed), AGREES if same else DIFFERS, note)


def _counts(given: Given) -> Iterator[_Row]:
    said = {
        name: int(given.said[name])
        for name in ("train", "test", "epochs", "batch_size", "clip_seconds", "frame_seconds")
    }
    yield (
        "5.1",
        "Training and test samples are those that are kept",
        given.said["kept"],
        said["train"] + said["test"],
        "",
    )
    yield "5.2", "Frames of a clip", 15, frame_count(said["clip_seconds"], said["frame_seconds"]), "items of Figure 4"
    steps = said["train"] * said["epochs"] // said["batch_size"]
    yield "5.3", "Updates of the second stage at a global batch of 2", 55_000, steps, _KNOWN
    yield "5.4", "Types of a video", given.said["types"], {10: "ten"}.get(len(TYPES), len(TYPES)), ""


def _parameters(given: Given) -> Iterator[_Row]:
    """Adaptor and LoRA on the meta device; patches of ImageBind's branch of audio."""
    import torch
    from peft import LoraConfig, get_peft_model

    from reprlab.models.build import build_from_config
    from reprlab.music.describer import Describer

    entry = given.entry("vicuna_7b")
    with torch.device("meta"):
        language: Any = build_from_config(entry).requires_grad_(False)
        adaptor = sum(one.numel() for one in Describer(language, 1024).adaptor.parameters())
        targets = ["q_proj", "k_proj", "v_proj", "o_proj"]
        lora = LoraConfig(r=int(given.said["rank"]), lora_alpha=int(given.said["alpha"]), target_modules=targets)
        tuned: Any = get_peft_model(language, lora)
    trained = sum(one.numel() for one in tuned.parameters() if one.requires_grad)
    yield "5.5", "Parameters of the adaptor from 1,024 to 4,096", 4_198_400, adaptor, _KNOWN
    yield "5.6", "Parameters of LoRA on q, k, v and o of a LLaMA of 7B", 33_554_432, trained, _KNOWN
    patches = ((128 - 16) // 10 + 1) * ((204 - 16) // 10 + 1) + 1
    yield "5.7", "Patches of ImageBind's audio with the class token", 229, patches, _KNOWN


def _example(given: Given) -> Iterator[_Row]:
    """Figure 3: what must hold of madmom's output holds of the printed one, and what does not."""
    tempo, beats, key, chords = (
        list(given.cells[f"fig3_{name}"].values()) for name in ("tempo", "beats", "key", "chords")
    )
    lags = [6000 / float(row["bpm"]) for row in tempo]
    yield "5.8a", "Tempi of the example", 11, len(tempo), _KNOWN
    whole = sum(abs(lag - round(lag)) < 1e-6 for lag in lags)
    yield "5.8b", "Tempi that are 6,000 over a whole lag", len(tempo), whole, "frames of 10 ms"
    total = rounded(sum((Decimal(row["strength"]) for row in tempo), Decimal(0)), 4)
    yield "5.8c", "Strengths sum to 1", "1.0000", total, ""
    times = [float(row["time"]) for row in beats]
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    median = (gaps[len(gaps) // 2] + gaps[(len(gaps) - 1) // 2]) / 2
    top = rounded(Decimal(tempo[0]["bpm"]), 1)
    yield "5.9a", "Median gap of the beats is the first tempo", top, rounded(Decimal(60 / round(median, 4)), 1), ""
    yield "5.9b", "Largest gap of the beats, s (one beat)", "0.70", f"{gaps[-1]:.2f}", "a beat of 25.23 s is missing"
    values = [float(row["probability"]) for row in key]
    total = rounded(Decimal(sum(values)), 5)
    yield (
        "5.10a",
        "Probabilities of keys sum to 1",
        "1.00000",
        total,
        "further off than float rounding: a digit is damaged",
    )
    ranked = sorted(range(len(values)), key=lambda place: -values[place])
    yield (
        "5.10b",
        "The likeliest key and the next are relatives",
        "Bb major, G minor",
        ", ".join(KEYS[one] for one in ranked[:2]),
        "",
    )
    yield "5.11a", "Chords of the example", 18, len(chords), _KNOWN
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
    top = {name: max(Decimal(row[name]) for row in fine) for name in _SCORES}
    fewer = next(row for row in fine if row["inputs"] == "123")
    led = sum(Decimal(fewer[name]) == best for name, best in top.items())
    yield "6.1", "Columns that three inputs, 123, lead or share", len(_SCORES), led, "the fourth input adds nothing"
    blank = {row["inputs"]: row for row in printed if row["section"] == "sanity"}
    main = next(row for row in printed if row["section"] == "main")
    share = Decimal(blank["1234"]["bleu1"]) / Decimal(main["bleu1"])
    yield (
        "6.2",
        "Share of BLEU-1 that is left with the instruction alone",
        "0.92",
        rounded(share, 2),
        "most of the score is form",
    )


def _scores() -> Iterator[_Row]:
    from reprlab.evaluation.generated_texts import bleu, bleu_counts, rouge_l

    counts = bleu_counts([_REFERENCE], [_HYPOTHESIS]).sum(0)
    yield "5.13a", "BLEU-1 of one sentence", "81.82", f"{float(bleu(counts, 1)):.2f}", _KNOWN
    yield "5.13b", "BLEU-4 of it", "48.33", f"{float(bleu(counts, 4)):.2f}", _KNOWN
    shown = " ".join(f"{100 * one:.2f}" for one in rouge_l([_REFERENCE], [_HYPOTHESIS])[0])
    yield "5.13c", "ROUGE-L of it: P R F1", "81.82 81.82 81.82", shown, _KNOWN
    for letter, text, score in (("d", _REFERENCE, 100), ("e", "entirely different words here now", 0)):
        found = bleu_counts([_REFERENCE], [text]).sum(0)
        values = [
            *(round(float(bleu(found, orders)), 6) for orders in (1, 4)),
            *(100 * rouge_l([_REFERENCE], [text])[0]),
        ]
        yield (
            f"5.13{letter}",
            f"BLEU and ROUGE-L of {'itself' if score else 'other words'}",
            f"{score} to {score}",
            f"{min(values):g} to {max(values):g}",
            _KNOWN,
        )
