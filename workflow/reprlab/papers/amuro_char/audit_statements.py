"""Constant predictors, hours, checkpoints, statements in the text, and where the paper contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from reprlab.papers.amuro_char.aggregate import released_frame
from reprlab.papers.amuro_char.names import BASE, CHECKPOINTS, MAIN
from reprlab.reporting.audit import Found, decimals, found, rounded
from reprlab.reporting.audit_checks import cell
from reprlab.reporting.audit_given import Given

_NEAR = 0.0055
# Released values are kept with four places.
_ROUNDING = 5e-5
_ROWS_OF_LIST, _FIRST = 351, 69
_UNITS = {"M": 6, "B": 9, "T": 12}


def _shares(given: Given, eval: str) -> dict[str, float]:
    counts = given.tables["label_counts"].query("eval == @eval").set_index("label")["count"].astype(int)
    return (counts / counts.sum()).to_dict()


def _table3(given: Given, dataset: str, model: str) -> str:
    return cell(given, table="table3_prediction_method", row=f"{dataset} {model}", column="tokenprob")


def constant_answer(given: Given, *, dataset: str, eval: str, label: str) -> Found:
    """5.4: accuracy of one answer."""
    return found(rounded(_shares(given, eval)[label], 3), printed=_table3(given, dataset, "BASE"))


def random_base(given: Given, *, eval: str) -> Found:
    """5.4: released scores of the un-tuned model against constant predictors."""
    shares, released = _shares(given, eval), released_frame(given.tables["released_performance"])
    base = released[(released["train"] == BASE) & (released["eval"] == eval)]["performance"]
    below = int((base <= max(shares.values()) + _ROUNDING).sum())
    near = sum(min(abs(value - share) for share in shares.values()) <= _NEAR for value in base)
    constant = ", ".join(f"{label} {share:.4f}" for label, share in shares.items())
    return found(below, below == len(base), total=len(base), near=near, within=_NEAR, constant=constant)


def hours(given: Given) -> Iterator[Found]:
    """5.6: sums of the columns of Table 4, each at the decimals of the printed one; hours in all."""
    table = given.tables["table4_gpu_hours"].set_index("activity").drop(columns="source").map(Decimal)
    for task, column in table.items():
        total, printed = column.drop("total").sum(), column["total"]
        note = "" if total == printed else "printed without decimals"
        yield found(total, rounded(total, decimals(str(printed))) == printed, task=task, printed=printed, decimals=note)
    yield found(table.loc["total"].sum())
    parts = ("gpu_hours_preliminary", "gpu_hours_instruction_tuning", "gpu_hours_finetuning")
    in_all = sum(Decimal(given.said[part]) for part in parts)
    yield found(in_all)
    fewer = Decimal(given.said["gpu_hours_total_section_3"]) - Decimal(given.said["gpu_hours_total"])
    yield found(in_all, fewer=fewer)


def checkpoints(given: Given) -> Iterator[Found]:
    """5.11: every n-th row of the released list; the steps between those that were taken."""
    steps = given.tables["checkpoint_list"].set_index("index")["step"].astype(int)
    stride = _ROWS_OF_LIST // 5
    chosen = [steps.get(str(index)) for index in range(_FIRST, _ROWS_OF_LIST, stride)]
    # Between the first two and the last: those of Table 6.
    printed = " ".join(given.tables["table6_perf_diff"]["ckpt"][2:-1])
    yield found(" ".join(map(str, chosen)), stride=stride, rows=_ROWS_OF_LIST, first=_FIRST, printed=printed)
    between = [later - earlier for earlier, later in pairwise(sorted(steps))]
    yield found(", ".join(f"{gap:,}" for gap in between), len(set(between[1:-1])) == 1)


def released_value(given: Given, *, dataset: str, model: str, released: str) -> Found:
    """6.1: Table 3 against the released value of main."""
    value = cell(given, table="released_performance", row=released, column=MAIN)
    return found(rounded(Decimal(value), 3), printed=_table3(given, dataset, model))


def noise(given: Given, *, released: str) -> Found:
    """8.5: two checkpoints that are 20 steps apart."""
    near, main = (cell(given, table="released_performance", row=released, column=name) for name in ("738000", MAIN))
    return found(main, near=near)


def gains(given: Given) -> Iterator[Found]:
    """6.2, 6.3: gains on sets learned in fine-tuning, first against last and largest against the named step."""
    gain = given.tables["table6_perf_diff"].set_index("ckpt")["learned_in_finetune"].map(Decimal)
    first, last = (gain[name] for name in (CHECKPOINTS[0], MAIN))
    yield found(f"{first} at {CHECKPOINTS[0]}, {last} at {MAIN}", first > last)
    about = int(given.said["finetuning_benefit_until olmo1b"])
    near = min(CHECKPOINTS[:-1], key=lambda name: abs(int(name) - about))
    largest, there = max(CHECKPOINTS, key=gain.__getitem__), gain[near]
    yield found(largest, gain[largest] - there <= Decimal("0.01"), gain=gain[largest], there=there, near=near)


def data_sets(given: Given) -> int:
    """6.4: distinct data sets of the published settings."""
    groups = (given.settings.evaluations, given.settings.trainings)
    return len({one.dataset for group in groups for one in group.values()} - {None})


def more_tokens_than_parameters(given: Given) -> Found:
    """8.7: Appendix A considers models with far more tokens than parameters only."""
    rows = given.tables["table2_models"].set_index("model")[["size", "tokens"]].map(_amounts)
    fewer = rows[rows["tokens"].map(min) <= rows["size"].map(max)]
    exchanged = fewer.index[fewer["size"].map(min) > fewer["tokens"].map(max)]
    held = f"it holds with size and tokens exchanged: {', '.join(exchanged)}" if len(exchanged) else ""
    not_those = f"; not {', '.join(fewer.index)}" if len(fewer) else ""
    return found(len(rows) - len(fewer), not len(fewer), total=len(rows), fewer=not_those, exchanged=held)


def _amounts(cell: str) -> list[Decimal]:
    """`70M, 1.4B` as numbers."""
    return [Decimal(part[:-1]).scaleb(_UNITS[part[-1]]) for part in cell.split(", ")]
