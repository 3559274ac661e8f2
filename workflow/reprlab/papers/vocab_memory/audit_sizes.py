"""Checks 5.1 to 5.4: parameter counts, and the tables that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from reprlab.config.models import load_models
from reprlab.models.counting import ClassifierSizes, classifier_sizes
from reprlab.models.sizes import heads_of, layers_of
from reprlab.papers.vocab_memory.names import GLUE, MODELS, SIZES, XNLI
from reprlab.reporting.audit import AuditRow, check, judge, rounded

Frame = Any
Tables = dict[str, Frame]

_HALF = Decimal("0.05")
_DISTILLED = {"DistilBERT": "BERT", "DistilRoBERTa": "RoBERTa", "DistilmBERT": "mBERT"}
_LISTED = {label: name for name, label in MODELS.items() if name != "minilm_l6" and "uncased" not in name}
_UNCASED = {"BERT": "bert_base_uncased", "DistilBERT": "distilbert_base_uncased"}


def size_checks(tables: Tables, models: Path) -> Iterator[AuditRow]:
    """Checks 5.1 to 5.4."""
    registry = load_models(models)
    needed = {*SIZES, *_UNCASED.values(), *(_LISTED[label] for label in tables["table5_models"]["model"])}
    sizes = {name: classifier_sizes(registry[name]) for name in sorted(needed)}
    yield from _counts(tables, registry, sizes)
    yield from _identity(tables, sizes)
    yield from _pairs(tables["table2_reduction"])
    yield from _savings(tables, sizes)


def _counts(tables: Tables, registry: Any, sizes: dict[str, ClassifierSizes]) -> Iterator[AuditRow]:
    letters = iter(ascii_lowercase)
    for _, row in tables["table5_models"].iterrows():
        name = _LISTED[row["model"]]
        printed = " ".join(row[column] for column in ("vocabulary", "embedding", "total", "share"))
        found = f"{sizes[name].vocabulary} {_printed(sizes[name])}"
        note = f"{name}: {sizes[name].total:,} parameters with a head for two labels"
        yield check(
            f"5.1{next(letters)}", f"Table 5, {row['model']}: |V|, N_emb (M), N (M), share (%)", printed, found, note
        )
    for name, label in SIZES.items():
        row = tables["table6_deberta"].set_index("model").loc[label]
        entry = registry[name]
        printed = " ".join(row[column] for column in ("layers", "heads", "width", "embedding", "total", "share"))
        found = f"{layers_of(entry)} {heads_of(entry)} {sizes[name].width} {_printed(sizes[name])}"
        yield check(
            f"5.1{next(letters)}",
            f"Table 6, {label}: l, h, d, N_emb (M), N (M), share (%)",
            printed,
            found,
            f"{sizes[name].total:,} parameters; the table prints depth as l and heads as h",
        )
    extra = classifier_sizes(registry["bert_base_cased"], 3).total - sizes["bert_base_cased"].total
    yield check(f"5.1{next(letters)}", "A third label adds d + 1 parameters", 769, extra, "known answer, d = 768")


def _printed(sizes: ClassifierSizes) -> str:
    share = rounded(Decimal(100 * sizes.embedding) / sizes.total, 1)
    return f"{_millions(sizes.embedding)} {_millions(sizes.total)} {share}"


def _millions(count: int) -> Decimal:
    return rounded(Decimal(count) / 10**6, 1)


def _identity(tables: Tables, sizes: dict[str, ClassifierSizes]) -> Iterator[AuditRow]:
    cells = [*_cells(tables["table2_reduction"], GLUE), *_cells(tables["table4_xnli"], XNLI)]
    others = [cell for cell in cells if cell[0] not in _UNCASED]
    off = [cell for cell in others if not _fits(cell, sizes[_LISTED[cell[0]]])]
    yield judge(
        "5.2a",
        "Tables 2 and 4: model % = embedding % x N_emb / N, without BERT and DistilBERT",
        f"all {len(others)} cells",
        f"{len(others) - len(off)} cells",
        not off,
        _named(off),
    )
    ours = [cell for cell in cells if cell[0] in _UNCASED]
    cased = [cell for cell in ours if _fits(cell, sizes[_LISTED[cell[0]]])]
    yield judge(
        "5.2b",
        "Table 2, BERT and DistilBERT: the same with the cased models of Table 5",
        f"all {len(ours)} cells",
        f"{len(cased)} cells",
        len(cased) == len(ours),
        "the rows of Table 2 are not those of the models that Table 5 lists",
    )
    uncased = [cell for cell in ours if _fits(cell, sizes[_UNCASED[cell[0]]])]
    yield judge(
        "5.2c",
        "Table 2, BERT and DistilBERT: the same with the uncased models (|V| = 30,522)",
        f"all {len(ours)} cells",
        f"{len(uncased)} cells",
        len(uncased) == len(ours),
        "so Table 2 counts the uncased models, Table 5 lists the cased ones",
    )


def _cells(frame: Frame, columns: Iterable[str]) -> list[tuple[str, str, Decimal, Decimal]]:
    """(model, column, embedding %, model %)."""
    whole = frame.set_index(["kind", "model"])
    names = list(dict.fromkeys(frame["model"]))
    return [
        (name, column, Decimal(whole.loc[("embedding", name), column]), Decimal(whole.loc[("model", name), column]))
        for name in names
        for column in columns
    ]


def _fits(cell: tuple[str, str, Decimal, Decimal], sizes: ClassifierSizes) -> bool:
    """Whether both percentages can come from one count of tokens, each rounded to one decimal."""
    ratio = Decimal(sizes.embedding) / sizes.total
    return abs(cell[2] * ratio - cell[3]) <= _HALF * ratio + _HALF


def _named(cells: list[tuple[str, str, Decimal, Decimal]]) -> str:
    return ", ".join(f"{model} {column}" for model, column, _, _ in cells)


def _pairs(frame: Frame) -> Iterator[AuditRow]:
    rows = frame[frame["kind"] == "embedding"].set_index("model")[[*GLUE, "mean"]]
    same = [small for small, large in _DISTILLED.items() if (rows.loc[small] == rows.loc[large]).all()]
    yield check(
        "5.3",
        "Table 2: distilled models with the embedding reductions of their originals",
        "three of three",
        f"{['no', 'one', 'two', 'three'][len(same)]} of three",
        ", ".join(same),
    )


def _savings(tables: Tables, sizes: dict[str, ClassifierSizes]) -> Iterator[AuditRow]:
    base = tables["table2_reduction"].set_index(["kind", "model"]).loc[("embedding", "DeBERTaV3")]
    printed = tables["table3_deberta_sizes"].set_index("model")
    off = []
    for name, label in SIZES.items():
        millions = Decimal(sizes[name].embedding) / 10**6
        for task in GLUE:
            expected = Decimal(base[task]) * millions / 100
            if abs(expected - Decimal(printed.loc[label, task])) > _HALF * millions / 100 + _HALF:
                off.append(f"{label} {task}")
    total = len(SIZES) * len(GLUE)
    yield judge(
        "5.4a",
        "Table 3 = Table 2 (DeBERTaV3) x N_emb",
        f"all {total} cells",
        f"{total - len(off)} cells",
        not off,
        ", ".join(off),
    )
    same = (printed.loc["Small"] == printed.loc["Base"]).all()
    yield judge(
        "5.4b",
        "Table 3: Small and Base save the same",
        "the same",
        "the same" if same else "different",
        bool(same),
        "one width, one vocabulary",
    )
