"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from reprlab.papers.prompt_tuning_encoders import audit_sizes
from reprlab.reporting.audit import Found, found, mean, rounded
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of

_PRINTED = printed_of("prompt-tuning-encoders")
TABLES = _PRINTED.declarations()
_AVERAGED = {
    name: _PRINTED.tables[name].values[first:-1] for name, first in (("table1", 1), ("table3", 1), ("table5", 0))
}


def averages(given: Given) -> Iterator[Found]:
    """5.2: every average is the mean of its cells."""
    for table, columns in _AVERAGED.items():
        for number, row in enumerate(given.tables[table].to_dict("records"), start=1):
            texts = {"table": table, "number": number, "model": row["model"], "row": row["row"], "k": row["k"]}
            yield found(mean(row[name] for name in columns), printed=row["average"], **texts)


def repeated_sts(given: Given) -> Found:
    """5.2: rows of Table 1 whose STS score is not the average of Table 5."""
    first, fifth = given.cells["table1"], given.cells["table5"]
    off = [name for name, row in first.items() if row["sts"] != fifth[name]["average"]]
    return found(len(off), not off, names="; ".join(off))


def second_best(given: Given, *, table: str, column: str, models: str) -> Decimal:
    """Trap 5: the second largest of a column among the rows of some models."""
    rows = given.tables[table]
    values = sorted({Decimal(text) for text in rows[rows["model"].isin(models.split())][column]})
    return values[-2]


def above(given: Given, *, other: str, about: str) -> Found:
    """Trap 6: the average of SPT v2 with k = 1 against another row of Table 3."""
    rows = given.cells["table3"]
    one, two = (Decimal(rows[name]["average"]) for name in ("LLaMA2-7B SPT v2 1", other))
    return found(two, one > two)


def corrected(given: Given) -> Decimal:
    """Trap 6: LoRA-uni's average when the mean of its seven STS cells is in place of the printed one."""
    name = "LLaMA2-7B LoRA-uni"
    cells, scores = given.cells["table5"][name], given.cells["table1"][name]
    sts = sum((Decimal(cells[column]) for column in _AVERAGED["table5"]), Decimal()) / len(_AVERAGED["table5"])
    others = sum((Decimal(scores[column]) for column in ("retrieval", "clustering", "classification")), Decimal())
    return rounded((sts + others) / 4, 2)


CHECKS = vars(audit_sizes) | globals()
