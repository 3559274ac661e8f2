"""Checks 5.4 and 5.6, statements in the text (6.*), and where paper and released code part ways (8.*)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reprlab.papers.amuro_char.aggregate import released_frame
from reprlab.papers.amuro_char.names import BASE, CHECKPOINTS, MAIN
from reprlab.reporting.audit import DIFFERS, AuditRow, check, judge, not_checkable, rounded

Frame = Any
Tables = dict[str, Frame]

_NEAR = 0.0055
# Released values are kept with four places.
_ROUNDING = 5e-5
# Names in Tables 1 and 7; the abstract counts ARC's two parts.
_DATASETS = (
    *("XSum", "XLSum", "CNN", "SocialIQa", "SciQ", "TweetQA", "MNLI", "RTE", "GPT3NLI", "Paws", "QQP", "STS-B"),
    *("TULU", "ARC-easy", "ARC-challenge", "OpenbookQA", "HellaSwag", "BoolQ"),
)


def statement_checks(tables: Tables) -> Iterator[AuditRow]:
    """Checks 5.4, 5.6 and 6.*."""
    yield from _constants(tables)
    yield from _hours(tables)
    yield from _statements(tables)


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
    golds = ["no"] * 100
    yield check(
        "5.4e",
        "A test set without labels, every gold read as 'no': accuracy of the constant answer 'no'",
        "1.0",
        str(sum(gold == "no" for gold in golds) / len(golds)),
        "what the released scores of QQP and STS-B measure; see 8.1",
    )
    yield not_checkable(
        "5.4f", "GPT3NLI: constant predictors at 1/3", "1/3", "missing: the label counts of the released data"
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
    yield check("6.4", "Abstract: 18 datasets", "18", str(len(_DATASETS)), "ARC's two parts count, and so does TULU")


def trap_checks(tables: Tables) -> Iterator[AuditRow]:
    """Rows 8.*: what was done, by the released code and tables, beside what is said."""
    printed = tables["table3_prediction_method"].set_index(["dataset", "model"])["tokenprob"]
    yield _differs(
        "8.1",
        "Table 3 and Figures 4a, 5: accuracy on STS-B and QQP",
        f"accuracy (BASE on STS-B {printed.loc[('STS-B', 'BASE')]})",
        "share of answers 'no'",
        "the released code takes test splits whose labels are all -1, so every gold is read as 'no'; un-tuned models "
        "have 0.987 to 1.000 on QQP. Here unknown labels raise; unlabelled_gold.tsv shows the effect on labelled data",
    )
    yield _differs(
        "8.2",
        "Sections 3.3 and 5: four shots are randomly sampled",
        "random shots",
        "the first rows of the evaluation file, which are scored too",
        "option shots_source; the default draws from the training split",
    )
    yield _differs(
        "8.3",
        "Figure 5: ratio of out-of-domain change",
        "ratio",
        "difference",
        "the released cell draws raw differences; ood_change.tsv has both",
    )
    yield _differs(
        "8.4",
        "Equation 1: mean over all evaluation sets but the training set",
        "all other sets",
        "two sets for each training set",
        "mrc.tsv has both; ratios over small bases dominate the mean",
    )
    released = tables["released_performance"].set_index(["train", "eval"])
    near, main = (released.loc[("paws", "paws"), name] for name in ("738000", MAIN))
    yield judge(
        "8.5",
        "PAWS after fine-tuning on PAWS, checkpoints 738000 and main (20 steps apart)",
        near,
        main,
        abs(Decimal(near) - Decimal(main)) < Decimal("0.02"),
        "one seed: the noise of one run is as large as the effects that are read off Table 6",
    )
    yield _differs("8.6", "Batch size of Llama3-8B", "16 (section 3.2)", "8 (appendix B, in both settings)")
    yield _differs(
        "8.7",
        "Table 2, OLMo-2: size and tokens",
        "4T, 5T and 7B, 13B",
        "7B, 13B and 4T, 5T",
        "the two rows are swapped",
    )
    yield _differs(
        "8.8",
        "Table 1: RTE and TweetQA are test sets",
        "test",
        "training splits",
        "released code; here the validation splits",
    )
    yield not_checkable(
        "8.9",
        "SciQ questions after fine-tuning on SocialIQa: 0.008 to 0.158 from checkpoint to checkpoint",
        "out-of-domain scores",
        "missing: the outputs; empty and run-on texts would explain it. perf.tsv has their share and length",
    )


def _differs(id: str, what: str, printed: str, recomputed: str, note: str = "") -> AuditRow:
    return AuditRow(id, what, printed, recomputed, DIFFERS, note)
