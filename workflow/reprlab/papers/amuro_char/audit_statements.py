"""Checks 5.4 and 5.6, and statements in the text (6.*)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reprlab.evaluation.metrics import score
from reprlab.papers.amuro_char.aggregate import released_frame
from reprlab.papers.amuro_char.names import BASE, CHECKPOINTS, MAIN
from reprlab.reporting.audit import AuditRow, check, judge, not_checkable, rounded
from reprlab.runtime.errors import ReprlabError
from reprlab.text.completion_settings import EvaluationTextSettings
from reprlab.text.completions import evaluation_rows
from reprlab.text.prompt_formats import LABELS

if TYPE_CHECKING:
    from reprlab.config.papers.amuro_char import AmuroCharSettings

Frame = Any
Tables = dict[str, Frame]

_NEAR = 0.0055
# Released values are kept with four places.
_ROUNDING = 5e-5
# Two on each side of the threshold of 3.5, which is a "no" itself.
_SCORES = (0.0, 3.5, 3.6, 5.0)


def statement_checks(tables: Tables, settings: AmuroCharSettings) -> Iterator[AuditRow]:
    """Checks 5.4, 5.6 and 6.*; `settings` are the published ones."""
    yield from _constants(tables)
    yield _golds_read_as_no(settings)
    yield from _hours(tables)
    yield from _statements(tables)
    yield _data_sets(tables, settings)


def _constants(tables: Tables) -> Iterator[AuditRow]:
    counts = tables["label_counts"].astype({"count": int})
    shares = {
        name: {
            row.label: row.count_ / rows["count"].sum() for row in rows.rename(columns={"count": "count_"}).itertuples()
        }
        for name, rows in counts.groupby("eval", sort=False)
    }
    printed = tables["table3_prediction_method"].set_index(["dataset", "model"])["tokenprob"]
    for letter, dataset, eval, label in (("a", "MNLI", "mnli_matched", "contradiction"), ("b", "Paws", "paws", "no")):
        yield check(
            f"5.4{letter}",
            f"Table 3, {dataset} BASE, TokenProb: accuracy of the constant answer '{label}'",
            printed.loc[(dataset, "BASE")],
            str(rounded(shares[eval][label], 3)),
            "so the un-tuned model gives one answer; known label counts",
        )
    released = released_frame(tables["released_performance"])
    for letter, eval in (("c", "mnli_matched"), ("d", "paws")):
        base = released[(released["train"] == BASE) & (released["eval"] == eval)]["performance"]
        below = int((base <= max(shares[eval].values()) + _ROUNDING).sum())
        near = sum(min(abs(value - share) for share in shares[eval].values()) <= _NEAR for value in base)
        yield judge(
            f"5.4{letter}",
            f"Section 4.3: the base model performs randomly; released BASE scores of {eval}",
            f"{len(base)} checkpoints no better than the most frequent class",
            f"{below} checkpoints; {near} within {_NEAR:g} of a constant predictor",
            below == len(base),
            "constant predictors: " + ", ".join(f"{label} {share:.4f}" for label, share in shares[eval].items()),
        )
    yield not_checkable(
        "5.4f", "GPT3NLI: constant predictors at 1/3", "1/3", "missing: the label counts of the released data"
    )


def _golds_read_as_no(settings: AmuroCharSettings) -> AuditRow:
    """Scores around the threshold of STS-B through the functions that make and score our own evaluation sets."""
    made = EvaluationTextSettings(
        template="paraphrase",
        kind="classification",
        formats=["default"],
        splits=["test"],
        threshold=settings.evaluations["stsb"].threshold,
    )

    def constant_no(scores: Sequence[float], *, as_no: bool) -> str:
        rows = [
            {"id": str(place), "split": "test", "text_a": "a", "text_b": "b", "score": value}
            for place, value in enumerate(scores)
        ]
        try:
            found = evaluation_rows(rows, "similarity", made.model_copy(update={"gold_as_no": as_no}), "audit")
        except ReprlabError:
            return "refused"
        golds = [row["completion"] for row in found]
        return f"{score('accuracy', golds, ['no'] * len(golds), LABELS['paraphrase']) / 100:g}"

    labelled, as_no = constant_no(_SCORES, as_no=False), constant_no(_SCORES, as_no=True)
    return check(
        "5.4e",
        f"STS-B's scores {', '.join(f'{value:g}' for value in _SCORES)}: accuracy of the constant answer 'no' with "
        "their labels, with every gold read as 'no', and with scores of -1",
        "0.5 1 refused",
        f"{labelled} {as_no} {constant_no([-1.0], as_no=False)}",
        "the second is what the released scores of QQP and STS-B measure; see 8.1",
    )


def _hours(tables: Tables) -> Iterator[AuditRow]:
    frame = tables["table4_gpu_hours"].set_index("activity")
    parts = frame.drop(index="total")
    sums = {}
    for letter, task in zip("abcd", ("xsum", "socialiqa", "mnli", "paws"), strict=True):
        sums[task] = sum((Decimal(value) for value in parts[task]), Decimal(0))
        printed = Decimal(frame.loc["total", task])
        places = max(0, -int(printed.as_tuple().exponent))
        yield judge(
            f"5.6{letter}",
            f"Table 4: hours of {task}",
            printed,
            sums[task],
            rounded(sums[task], places) == printed,
            "" if sums[task] == printed else "printed without decimals",
        )
    said = tables["statements"].set_index("quantity")["value"]
    printed_sum = sum((Decimal(frame.loc["total", task]) for task in sums), Decimal(0))
    yield check("5.6e", "Table 4: hours of fine-tuning", said["gpu_hours_finetuning"], str(printed_sum))
    parts_of_all = ("gpu_hours_preliminary", "gpu_hours_instruction_tuning", "gpu_hours_finetuning")
    total = sum((Decimal(said[name]) for name in parts_of_all), Decimal(0))
    yield judge(
        "5.6f",
        "Appendix E: approximately 1067 hours in all",
        said["gpu_hours_total"],
        total,
        rounded(total, 0) == Decimal(said["gpu_hours_total"]),
    )
    about = said["gpu_hours_total_section_3"]
    zeros = len(about) - len(about.rstrip("0"))
    yield judge(
        "5.6g",
        "Section 3.2: GPU hours in all, approximately",
        about,
        total,
        rounded(total, -zeros) == Decimal(about),
        f"agrees where the sum rounds to it at its last digit that is not 0; Appendix E prints "
        f"{said['gpu_hours_total']}, {Decimal(about) - Decimal(said['gpu_hours_total'])} fewer, and calls it a lower "
        "bound",
    )


def _statements(tables: Tables) -> Iterator[AuditRow]:
    released = tables["released_performance"].set_index(["train", "eval"])[MAIN]
    printed = tables["table3_prediction_method"].set_index(["dataset", "model"])["tokenprob"]
    cells = (
        ("a", "MNLI", "Fine-tuned", ("mnli", "mnli_matched")),
        ("b", "MNLI", "BASE", (BASE, "mnli_matched")),
        ("c", "Paws", "Fine-tuned", ("paws", "paws")),
        ("d", "Paws", "BASE", (BASE, "paws")),
    )
    for letter, dataset, model, key in cells:
        found = rounded(Decimal(released.loc[key]), 3)
        yield judge(
            f"6.1{letter}",
            f"Table 3, {dataset} {model}, TokenProb, against the released value of main",
            printed.loc[(dataset, model)],
            found,
            Decimal(printed.loc[(dataset, model)]) == found,
        )
    gains = tables["table6_perf_diff"].set_index("ckpt")["learned_in_finetune"]
    first, last = Decimal(gains[CHECKPOINTS[0]]), Decimal(gains[MAIN])
    yield judge(
        "6.2",
        "Section 6: on sets learned in fine-tuning, earlier checkpoints gain more than later ones",
        "earlier more",
        f"{first} at {CHECKPOINTS[0]}, {last} at {MAIN}",
        first > last,
        "Table 6",
    )
    largest = max(CHECKPOINTS, key=lambda name: Decimal(gains[name]))
    yield judge(
        "6.3",
        "Section 6: the benefit grows up to about 424,000 steps",
        "424000",
        f"largest at {largest} ({gains[largest]}; {gains['424000']} at 424000)",
        abs(Decimal(gains[largest]) - Decimal(gains["424000"])) <= Decimal("0.01"),
        "agrees where the largest gain is within 0.01 of that at 424000",
    )


def _data_sets(tables: Tables, settings: AmuroCharSettings) -> AuditRow:
    named = {one.dataset for one in settings.evaluations.values()} | {
        one.dataset for one in settings.trainings.values()
    }
    return check(
        "6.4",
        "Abstract: data sets that models are fine-tuned or evaluated on",
        tables["statements"].set_index("quantity").loc["datasets", "value"],
        str(len(named - {None})),
        "distinct data sets of the published settings: both parts of MNLI are one, those of ARC two; TULU counts",
    )
