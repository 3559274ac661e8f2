"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of

TABLES = printed_of("punctuation-restoration").declarations()


def _gains(given: Given) -> list[tuple[dict[str, str], Decimal]]:
    return [(row, Decimal(row["delta"])) for row in given.tables["table1"].to_dict("records") if row["delta"]]


def experiments(given: Given) -> int:
    """5.2: rows of Table 1, one joint and one discriminative experiment."""
    return len(given.tables["table1"]) + 2


def gains(given: Given, *, least: str, below: str = "inf", where: str = "all") -> int:
    """5.2: how many printed gains lie between two bounds, of all experiments or of those on further sets."""
    printed = [(row["train_set"] != row["eval_set"], gain) for row, gain in _gains(given)]
    kept = [gain for further, gain in printed if where != "further" or further]
    if where == "all":
        # Of the joint experiment that on entities, of the discriminative one the mean.
        kept += [Decimal(given.cells["table2"]["ner"]["delta"]), Decimal(given.cells["table3"]["avg"]["delta"])]
    return sum(Decimal(least) <= gain < Decimal(below) for gain in kept)


def improved(given: Given, *, least: str) -> int:
    """5.2: experiments less those whose printed gain is below a bound; the row that is lost gains more (5.2)."""
    return experiments(given) - gains(given, least="-1", below=least)


def tasks(given: Given, *, least: str, of: str) -> int:
    """T10: tasks of Table 1 whose mean gain, or whose largest one, is at least this much."""
    found: dict[str, list[Decimal]] = {}
    for row, gain in _gains(given):
        found.setdefault(row["task"], []).append(gain)
    values = [max(one) if of == "largest" else sum(one, Decimal(0)) / len(one) for one in found.values()]
    return sum(value >= Decimal(least) for value in values)


def name_of_relations(given: Given) -> str:
    """T11: what Table 5 calls the task of TACRED."""
    return next(row["task"] for row in given.tables["table5"].to_dict("records") if row["dataset"] == "TACRED")


def cells_of_relations(given: Given) -> int:
    """T11: how many cells of their precision and recall Table 1 has."""
    cells = given.cells["table1"]["relations tacred tacred"]
    return sum(bool(cells[f"{init}_{name}"]) for init in ("t5", "pr") for name in ("precision", "recall"))


def further_sets(given: Given) -> int:
    """5.2: rows that test on another set than they train on."""
    return sum(row["train_set"] != row["eval_set"] for row, _ in _gains(given))


def harmonic_means(given: Given) -> Iterator[Found]:
    """5.3: F1 is the harmonic mean of P and R, within what rounding of three numbers leaves."""
    for name, keys in (
        ("table1", ("task", "train_set", "eval_set")),
        ("table2", ("task",)),
        ("table3", ("statistic",)),
        ("table6", ("size",)),
    ):
        for row in given.tables[name].to_dict("records"):
            if row.get("statistic") == "sdev":
                continue
            for prefix in ("t5_", "pr_") if name != "table6" else ("",):
                if row[f"{prefix}precision"]:
                    p, r, f1 = (Decimal(row[prefix + one]) for one in ("precision", "recall", "f1"))
                    yield found(
                        rounded(2 * p * r / (p + r), 4),
                        where=" ".join((name, *(row[key] for key in keys), prefix.strip("_"))),
                        f1=f1,
                    )


def stability(given: Given, *, show: str) -> Decimal:
    """5.4: what restoration takes of the deviation over seeds, in percent, and of the range."""
    cells = given.cells["table3"]
    if show == "sdev":
        return rounded(100 * (1 - Decimal(cells["sdev"]["pr_f1"]) / Decimal(cells["sdev"]["t5_f1"])), 1)
    ranges = [Decimal(cells["max"][f"{one}_f1"]) - Decimal(cells["min"][f"{one}_f1"]) for one in ("t5", "pr")]
    return ranges[0] - ranges[1]


def difference(
    given: Given, *, table: str, row: str, column: str, less: str, less_row: str, less_column: str
) -> Decimal:
    """5.5, C.1, C.2: a printed cell less another one."""
    return Decimal(given.cells[table][row][column]) - Decimal(given.cells[less][less_row][less_column])


def listed_sets(given: Given, *, show: str) -> int:
    """T9: data sets of Table 5, once or as often as they are listed, and its tasks."""
    rows = given.tables["table5"].to_dict("records")
    tasks = {task for row in rows for task in row["task"].split(", ")}
    return {"listed": len(rows), "distinct": len({row["dataset"] for row in rows}), "tasks": len(tasks)}[show]
