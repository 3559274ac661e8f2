"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal

import torch

from reprlab.models import selective_scan as scans
from reprlab.models.counting import parameter_count
from reprlab.reporting.audit import Found, found, mean, rounded
from reprlab.reporting.audit_checks import parameters
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of
from reprlab.retrieval.ranking_metrics import ranking_scores
from reprlab.retrieval.reranker import group_loss

_PRINTED = printed_of("ssm-rerankers")
TABLES = _PRINTED.declarations()
_BEIR = _PRINTED.tables["table3"].values[:-1]
_PRINTED_SIZES = {
    "RoBERTa-large": "roberta_large", "ELECTRA-large": "electra_large", "BART-base": "bart_base",
    "BART-large": "bart_large", "OPT-350M": "opt_350m",
}  # fmt: skip

# Rows within which a best one is marked, by the form of their keys.
_GROUPS = {
    "of all": ".*",
    "of those quoted": "(Mono|cross|Rank).*",
    "of those trained": "(?!BM25|Mono|cross|Rank)(?!.* prior).*",
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


def layer_parameters(given: Given, *, model: str) -> int:
    """5.1: what a layer more adds."""
    entry = given.entry(model)
    layers = int(entry.config["num_hidden_layers"])
    less = entry.model_copy(update={"config": {**entry.config, "num_hidden_layers": layers - 1}})
    return parameter_count(entry) - parameter_count(less)


def averages(given: Given) -> Iterator[Found]:
    """5.2: every average is the mean of its 13 cells."""
    for number, row in enumerate(given.tables["table11"].to_dict("records"), start=1):
        mean = sum((Decimal(row[name]) for name in _BEIR), Decimal()) / len(_BEIR)
        yield found(mean, number=number, model=row["model"], printed=row["average"])


def repeated_columns(given: Given) -> int:
    """5.2: cells of Table 3 that differ from Table 11."""
    third, eleventh = (given.tables[name].set_index("model")[[*_BEIR, "average"]] for name in ("table3", "table11"))
    return int((third != eleventh.loc[third.index]).to_numpy().sum())


def loss_of_equal_scores(given: Given, *, size: str) -> float:
    ids, mask = torch.zeros(int(size)), torch.ones(int(size), 1)
    batch = {"input_ids": ids, "attention_mask": mask, "groups": torch.zeros(1)}
    return group_loss(lambda ids, mask: ids, batch)[0].item()


def zero_order_hold(given: Given) -> Iterator[str]:
    """5.4: kernel and step response of A = -1 with a step of ln 2."""
    decay, factor = scans.zero_order_hold(torch.full((1, 3), -1.0, dtype=torch.float64), math.log(2))
    for inputs in (torch.tensor([[1.0, 0.0, 0.0]]), torch.ones(1, 3)):
        yield " ".join(f"{value:g}" for value in scans.linear_recurrence(decay, factor * inputs)[0].tolist())


def linear_gains(given: Given) -> float:
    """5.6: nDCG@10 of grades 0, 3, 2."""
    run, grades = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 0, "b": 3, "c": 2}}
    return ranking_scores(run, grades, ["ndcg_at_10"])["ndcg_at_10"][0]


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


def best(given: Given, *, table: str, column: str, among: str) -> Found:
    """8.6: who has the largest value of a column, of a group of rows."""
    rows = [(key, row[column]) for key, row in given.cells[table].items() if re.fullmatch(_GROUPS[among], key)]
    values = {key: float(text) for key, text in rows if text not in ("", "OOM")}
    most = max(values.values())
    return found(", ".join(key for key, value in values.items() if value == most), most=most)


def _queries(given: Given, length: str, model: str) -> Decimal:
    """Queries a second of Table 5."""
    return Decimal(given.cells["table5"][f"{model} {length}"]["queries_per_second"])


def documents(given: Given) -> Decimal:
    """5.8: documents a second, 100 a query."""
    return 100 * _queries(given, "512", "OPT-350M")


def slower(given: Given) -> Found:
    opt, mamba = (_queries(given, "1536", name) for name in ("OPT-350M", "Mamba-2-370M"))
    return found(mamba, mamba < opt, opt=opt)
