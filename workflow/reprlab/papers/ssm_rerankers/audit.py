"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from reprlab.reporting.audit import Found, found, mean, rounded
from reprlab.reporting.audit_checks import parameters
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of

_PRINTED = printed_of("ssm-rerankers")
TABLES = _PRINTED.declarations()
_BEIR = _PRINTED.tables["table3"].values[:-1]
_PRINTED_SIZES = {
    "RoBERTa-large": "roberta_large", "ELECTRA-large": "electra_large", "BART-base": "bart_base",
    "BART-large": "bart_large", "OPT-350M": "opt_350m",
}  # fmt: skip

_TRAINED = "(?!BM25|Mono|cross|Rank)(?!.* prior).*"
# Rows within which a best one is marked, by the form of their keys.
_GROUPS = {
    "overall": ".*",
    "trained": _TRAINED,
    "of those trained": _TRAINED,
    "of about 350M at 512": ".*(large|350M|370M) 512",
    "of about 1.3B at 512": ".*B 512",
}


def printed_sizes(given: Given) -> Iterator[Found]:
    """8.4: sizes that the tables print, in millions."""
    for row in given.tables["sizes"].to_dict("records"):
        true = Decimal(parameters(given, model=_PRINTED_SIZES[row["model"]])) / 10**6
        for text in filter(None, (row["first"], row["second"])):
            agrees = abs(true - Decimal(text)) / true < Decimal("0.02")
            yield found(rounded(true, 0), agrees, model=row["model"], printed=text)


def averages(given: Given) -> Iterator[Found]:
    """5.2: every average is the mean of its 13 cells."""
    for number, row in enumerate(given.tables["table11"].to_dict("records"), start=1):
        mean = sum((Decimal(row[name]) for name in _BEIR), Decimal()) / len(_BEIR)
        yield found(mean, number=number, model=row["model"], printed=row["average"])


def repeated_columns(given: Given) -> int:
    """5.2: cells of Table 3 that differ from Table 11."""
    third, eleventh = (given.tables[name].set_index("model")[[*_BEIR, "average"]] for name in ("table3", "table11"))
    return int((third != eleventh.loc[third.index]).to_numpy().sum())


def two_rows(given: Given, *, table: str, one: str, other: str, columns: str = "dev dl19 dl20") -> Found:
    """8.1, 8.2: two conditions have two rows of numbers."""
    first, second = (" ".join(given.cells[table][row][name] for name in columns.split()) for row in (one, other))
    return found(second, first != second, first=first)


def above(given: Given, *, one: str, other: str, table: str = "table11", column: str = "average") -> Found:
    """8.5: averages over BEIR, and Dev."""
    first, second = (Decimal(given.cells[table][name][column]) for name in (one, other))
    return found(f"{first} against {second}", first > second)


def best_below_one_billion(given: Given, *, column: str) -> str:
    """8.5: the best trained row of Table 4 whose name ends in no billions."""
    rows = given.tables["table4"].query("truncation != 'prior'")
    rows = rows[~rows["model"].str.fullmatch(r".*-[0-9.]+B")]
    best = rows.loc[rows[column].map(Decimal).astype(float).idxmax()]
    return f"{best['model']} {best['truncation']}"


def owners(given: Given, *, column: str, model: str) -> str:
    """8.5: the models with one and the same value on a set of BEIR."""
    values = given.tables["table11"].set_index("model")[column]
    return ", ".join(values.index[values == values[model]])


def without_slip(given: Given, *, column: str, model: str, siblings: str) -> Decimal:
    """8.5.4: a model's average over BEIR with the mean of its siblings on one set."""
    cells = given.cells["table11"]
    others = mean(cells[name][column] for name in siblings.split(", "))
    return rounded(mean(map(str, [*(Decimal(cells[model][name]) for name in _BEIR if name != column), others])), 1)


def _largest(given: Given, table: str, column: str, among: str) -> Found:
    """The rows of a group with the largest value of a column."""
    rows = [(key, row[column]) for key, row in given.cells[table].items() if re.fullmatch(_GROUPS[among], key)]
    values = {key.removesuffix(" 512"): Decimal(text) for key, text in rows if text not in ("", "OOM")}
    most = max(values.values())
    return found(", ".join(key for key, value in values.items() if value == most), most=most)


def marked(given: Given) -> Iterator[Found]:
    """8.6: the rows that are marked as the best of all, or of those trained, in each column of Tables 2 to 4."""
    for row in given.tables["marks"].to_dict("records"):
        largest = _largest(given, row["table"], row["column"], row["best"])
        yield found(largest.value, printed=row["rows"], **row, **largest.names)


def best(given: Given, *, table: str, column: str, among: str) -> Found:
    """8.6: who has the largest value of a column, of a group of rows."""
    return _largest(given, table, column, among)


def slower(given: Given) -> Found:
    """8.9: queries a second of Table 5."""
    rows = (given.cells["table5"][f"{name} 1536"] for name in ("OPT-350M", "Mamba-2-370M"))
    opt, mamba = (Decimal(row["queries_per_second"]) for row in rows)
    return found(mamba, mamba < opt, opt=opt)
