"""Checks 5.9 and 5.10, and statements of the text that its own numbers decide."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from reprlab.papers.intrinsic_dimension.results import CONDITIONS
from reprlab.reporting.audit import AuditRow, check, judge, mean, not_checkable, rounded
from reprlab.representations.prompts import demonstration_indices
from reprlab.representations.settings import PromptSettings

Tables = dict[str, Any]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BATCH = 16
_KNOWN_MEANS = ("0.4999", "0.5168", "0.5666", "0.6039", "0.6176", "0.7201")
_SHOTS = ("icl_1", "icl_2", "icl_5", "icl_10")


def table_checks(tables: Tables) -> list[AuditRow]:
    """Checks 5.9 and 5.10."""
    return [*_steps(tables["statements"]), *_demonstrations(), *_means(tables["accuracy"]), *_majorities(tables)]


def statement_checks(tables: Tables) -> list[AuditRow]:
    """Statements of the text, by the number of the trap that they belong to."""
    accuracy = tables["accuracy"].set_index("dataset")
    best = accuracy[list(CONDITIONS)].map(Decimal).idxmax(axis=1)
    statements = tables["statements"].set_index("quantity")
    counts = tables["label_counts"]
    labels = counts.loc[counts["dataset"] == "commonsense_qa", "label"].nunique()
    return [
        not_checkable(
            "8.1",
            "the scored token is the one that the model writes (label_ids)",
            "first token of the label",
            "needs the tokenizers of the four models; tests show the difference on tokenizers of their kinds",
        ),
        check(
            "8.2",
            "label set of CommonsenseQA",
            statements.loc["label_choices", "value"],
            str(labels),
            "the prompt shows A to D, the released answers have E as well",
        ),
        judge(
            "8.3",
            "CommonsenseQA can give disjoint demonstrations",
            f"{statements.loc['unique_demonstrations', 'value']} needed",
            "9741 training items",
            False,
            "k = 20 for 5000 prompts; the figures show QQP in its place",
        ),
        judge(
            "8.4a",
            "fine-tuning has the best accuracy on all data sets",
            "all 8 data sets",
            f"{(best == 'sft_1k').sum()} data sets",
            bool((best == "sft_1k").all()),
        ),
        _rises(accuracy),
    ]


def _rises(accuracy: Any) -> AuditRow:
    """Section 7.1: accuracy rises and then stays."""
    falls = [
        f"{dataset} from {first} to {second}"
        for dataset, row in accuracy.iterrows()
        for first, second in zip(("icl_0", *_SHOTS), _SHOTS, strict=False)
        if Decimal(row[second]) < Decimal(row[first])
    ]
    note = f"it falls on {', '.join(falls)}" if falls else ""
    return judge(
        "8.4b",
        "accuracy never falls with more demonstrations",
        "increases and then plateaus",
        f"{len(falls)} falls",
        not falls,
        note,
    )


def _steps(statements: Any) -> list[AuditRow]:
    values = statements.set_index("quantity")["value"]
    per_epoch = -(-int(values["train_items"]) // _BATCH)
    ladder = [0, *range(62, 931, 62), 15 * per_epoch]
    return [
        check(
            "5.9a",
            "optimizer steps of an epoch, batch 16",
            int(values["steps_per_epoch"]),
            per_epoch,
            "printed as about 62; the last batch is short (T5)",
        ),
        check("5.9b", "steps of 15 epochs", 945, 15 * per_epoch, "known answer; not printed"),
        check("5.9c", "steps of 4 epochs", 252, 4 * per_epoch, "known answer; not printed"),
        check(
            "5.9d",
            "evaluated steps, 0 included",
            17,
            len(ladder),
            "each 62 steps to 930, then the end; multiples of 62 are no ends of epochs",
        ),
    ]


def _demonstrations() -> list[AuditRow]:
    settings = PromptSettings(
        template="{text}", split="validation", train_items=1000, validation_items=5000, demonstrations=2
    )
    found = demonstration_indices(3, 1000, settings)
    rows = [
        check(
            "5.9e",
            "demonstrations of items 0 to 2, k = 2",
            [[654, 114], [25, 759], [281, 250]],
            found,
            "released indices",
        )
    ]
    unique = settings.model_copy(update={"demonstrations": 20, "unique": True})
    drawn = [index for indices in demonstration_indices(5000, 100_000, unique) for index in indices]
    rows.append(
        check(
            "5.9f",
            "unique control: different demonstrations of 5000 prompts, k = 20",
            100_000,
            len(set(drawn)),
            "the released indices of this control are those of the main experiment (T3)",
        )
    )
    return rows


def _means(accuracy: Any) -> list[AuditRow]:
    return [
        check(
            f"5.10{letter}",
            f"Table 1, mean of {condition} over 8 data sets",
            Decimal(known),
            rounded(mean(accuracy[condition]), 4),
            "known answer; not printed",
        )
        for letter, condition, known in zip(_LETTERS, CONDITIONS, _KNOWN_MEANS, strict=False)
    ]


def _majorities(tables: Tables) -> list[AuditRow]:
    rows = []
    accuracy, counts = tables["accuracy"].set_index("dataset"), tables["label_counts"]
    for letter, (dataset, printed) in zip(_LETTERS[len(CONDITIONS) :], accuracy.iterrows(), strict=False):
        of_set = counts.loc[(counts["dataset"] == dataset) & (counts["split"] == "validation"), "count"].astype(int)
        majority = Decimal(int(of_set.max())) / Decimal(int(of_set.sum()))
        below = [name for name in CONDITIONS if Decimal(printed[name]) < majority]
        note = f"below it: {', '.join(below)}" if below else "every condition is above it"
        rows.append(
            judge(
                f"5.10{letter}",
                f"{dataset}: Table 1 beats the most frequent class of the released validation labels",
                f"{printed['icl_0']} to {printed['sft_1k']}",
                rounded(majority, 4),
                not below,
                note,
            )
        )
    return rows
