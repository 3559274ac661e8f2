"""The audit: every check of the paper's arithmetic that needs neither training nor data nor network."""

import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from reprlab.config.models import load_models
from reprlab.models.counting import parameter_count
from reprlab.papers.ssm_rerankers.results import BEIR, PRINTED
from reprlab.reporting.audit import AuditRow, check, judge, not_checkable, rounded
from reprlab.reporting.published import PublishedTable, read_published
from reprlab.results.comparison import declarations

TABLES = {**declarations(PRINTED), "sizes": PublishedTable(("model",), ("first", "second"))}
# Parameters of the backbones as transformers builds them: those of the published checkpoints.
SIZES = {
    "bert_base_uncased": 109_482_240, "bert_large_uncased": 335_141_888, "roberta_base": 124_645_632,
    "roberta_large": 355_359_744, "electra_base": 108_891_648, "electra_large": 334_092_288, "bart_base": 139_420_416,
    "bart_large": 406_291_456, "opt_125m": 125_239_296, "opt_350m": 331_196_416, "opt_1_3b": 1_315_758_080,
    "mamba_130m": 129_135_360, "mamba_370m": 371_516_416, "mamba_790m": 793_204_224, "mamba_1_4b": 1_372_178_432,
    "mamba2_130m": 128_989_632, "mamba2_370m": 368_346_624, "mamba2_780m": 780_161_280,
    "mamba2_1_3b": 1_343_757_312, "llama_3_2_1b": 1_235_814_400,
}  # fmt: skip
_PRINTED_SIZES = {
    "RoBERTa-large": "roberta_large", "ELECTRA-large": "electra_large", "BART-base": "bart_base",
    "BART-large": "bart_large", "OPT-350M": "opt_350m",
}  # fmt: skip
_HALF = Decimal("0.05")


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows; the ids are the numbers of the specification's checks.

    Raises:
        ReprlabError: a table is missing or malformed.
    """
    tables = read_published(published, TABLES)
    return [*_sizes(models, tables["sizes"]), *_averages(tables), *_identities(), *_repeats(tables)]


def _sizes(models: Path, printed: Any) -> Iterator[AuditRow]:
    """5.1: parameters on the meta device; 8.4: sizes that the tables print."""
    registry = load_models(models)
    for letter, (name, known) in zip(ascii_lowercase, SIZES.items(), strict=False):
        yield check(
            f"5.1{letter}", f"Parameters of {name}", known, parameter_count(registry[name]), "published checkpoint"
        )
    letters = iter(ascii_lowercase)
    for row in printed.to_dict("records"):
        true = Decimal(SIZES[_PRINTED_SIZES[row["model"]]]) / 10**6
        for text in filter(None, (row["first"], row["second"])):
            agrees = abs(true - Decimal(text)) / true < Decimal("0.02")
            about = f"8.4{next(letters)}", f"Size of {row['model']} (millions)", text
            yield judge(*about, rounded(true, 0), agrees, "tolerance 2 %")


def _averages(tables: dict[str, Any]) -> Iterator[AuditRow]:
    """5.2: every average is the mean of its 13 cells, and Table 3 repeats columns of Table 11."""
    for number, row in enumerate(tables["table11"].to_dict("records"), start=1):
        mean = sum((Decimal(row[name]) for name in BEIR), Decimal()) / len(BEIR)
        agrees = abs(mean - Decimal(row["average"])) <= _HALF
        yield judge(
            f"5.2.{number}.{row['model']}",
            f"Table 11, {row['model']}: average over BEIR",
            row["average"],
            rounded(mean, 2),
            agrees,
            "tolerance 0.05",
        )
    third, eleventh = (tables[name].set_index("model")[[*BEIR, "average"]] for name in ("table3", "table11"))
    differing = int((third != eleventh.loc[third.index]).to_numpy().sum())
    yield check("5.2", "Cells of Table 3 that differ from Table 11", 0, differing)


def _identities() -> Iterator[AuditRow]:
    """5.3 to 5.6: known answers of loss, scan and metrics."""
    import torch

    from reprlab.models.selective_scan import linear_recurrence
    from reprlab.retrieval.ranking_metrics import ranking_scores
    from reprlab.retrieval.reranker import group_loss

    for letter, size in zip(ascii_lowercase, (16, 8), strict=False):
        batch = {"input_ids": torch.zeros(size), "attention_mask": torch.ones(size, 1), "groups": torch.zeros(1)}
        loss = group_loss(lambda ids, mask: ids, batch)[0].item()
        yield check(
            f"5.3{letter}", f"Loss of {size} equal scores", f"{math.log(size):.4f}", f"{loss:.4f}", "known answer"
        )
    half = torch.full((1, 3), math.exp(-math.log(2)), dtype=torch.float64)
    impulse = torch.tensor([[0.5, 0.0, 0.0]], dtype=torch.float64)
    for letter, inputs, wanted in (("a", impulse, "0.5 0.25 0.125"), ("b", 1 - half, "0.5 0.75 0.875")):
        found = " ".join(f"{value:g}" for value in linear_recurrence(half, inputs)[0].tolist())
        yield check(
            f"5.4{letter}", "Zero-order hold, A = -1 and step ln 2: kernel (a), step response (b)", wanted, found
        )
    yield not_checkable(
        "5.5",
        "Chunked and recurrent scans agree; padding; causality",
        "",
        "numerical, to 1e-5: asserted in tests/unit/test_selective_scan.py",
    )
    run, grades = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 0, "b": 3, "c": 2}}
    score = ranking_scores(run, grades, ["ndcg_at_10"])["ndcg_at_10"][0]
    yield check("5.6", "nDCG@10 of grades 0, 3, 2 with linear gains", "0.6788", f"{score:.4f}", "known answer")


def _repeats(tables: dict[str, Any]) -> Iterator[AuditRow]:
    """8.1 to 8.9: rows that stand twice, and statements that the tables contradict; 5.8: documents a second."""
    second = tables["table2"].set_index("model")
    for letter, large, small in (("a", "Mamba-1-1.4B", "Mamba-1-370M"), ("b", "Mamba-2-1.3B", "Mamba-2-370M")):
        rows = [" ".join(second.loc[name, ["dev", "dl19", "dl20"]]) for name in (large, small)]
        about = f"8.1{letter}", f"Table 2: {large} and {small} are two rows of numbers", rows[0], rows[1]
        yield judge(*about, rows[0] != rows[1], "one row under two names; BEIR rows of the two differ")
    fourth = tables["table4"].set_index(["truncation", "model"])
    both = [" ".join(fourth.loc[(kind, "OPT-125M"), ["dev", "dl19", "dl20"]]) for kind in ("firstp", "longp")]
    yield judge("8.2", "Table 4: OPT-125M with FirstP and LongP are two rows", both[0], both[1], both[0] != both[1])
    eleventh = tables["table11"].set_index("model")["average"].map(Decimal)
    for letter, one, other in (
        ("a", "Mamba-2-130M", "Mamba-1-130M"),
        ("b", "Mamba-2-370M", "Mamba-1-370M"),
        ("c", "Mamba-2-780M", "Mamba-1-790M"),
        ("d", "Mamba-2-1.3B", "Mamba-1-1.4B"),
    ):
        yield judge(
            f"8.5{letter}",
            f"Mamba-2 is better than Mamba-1 on BEIR: {one} above {other}",
            "above",
            f"{eleventh[one]} against {eleventh[other]}",
            eleventh[one] > eleventh[other],
        )
    marked = tables["table11"].set_index("model")["hotpotqa"].map(Decimal)
    yield check("8.6", "HotpotQA's best (marked RankLlama)", "RankLlama", str(marked.idxmax()), f"{marked.max()}")
    fifth = tables["table5"].set_index(["length", "model"])["queries_per_second"]
    yield check(
        "5.8",
        "Documents a second of OPT-350M at length 512, 100 a query",
        "69",
        f"{Decimal(fifth[('512', 'OPT-350M')]) * 100:.0f}",
    )
    pair = [fifth[("1536", name)] for name in ("OPT-350M", "Mamba-2-370M")]
    yield judge(
        "8.9",
        "Inference of Mamba-2-370M is slower than of OPT-350M at length 1,536",
        "slower",
        f"{pair[1]} against {pair[0]} queries a second",
        Decimal(pair[1]) < Decimal(pair[0]),
    )
