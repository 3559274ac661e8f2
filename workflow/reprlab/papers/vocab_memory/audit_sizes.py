"""Parameter counts, and the tables that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import cache

from reprlab.models.counting import ClassifierSizes, classifier_sizes
from reprlab.models.sizes import heads_of, layers_of
from reprlab.papers.vocab_memory.names import GLUE, MODELS, SIZES, XNLI
from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import counted

_HALF = Decimal("0.05")
_LISTED = {label: name for name, label in MODELS.items() if name != "minilm_l6" and "uncased" not in name}
_UNCASED = {"BERT": "bert_base_uncased", "DistilBERT": "distilbert_base_uncased"}


@cache
def _sizes(given: Given, model: str, labels: int = 2) -> ClassifierSizes:
    return classifier_sizes(given.entry(model), labels)


def _printed(sizes: ClassifierSizes) -> str:
    """Embedding and all parameters in millions, and the share of the first."""
    millions = [str(rounded(Decimal(count) / 10**6, 1)) for count in (sizes.embedding, sizes.total)]
    return " ".join([*millions, str(rounded(Decimal(100 * sizes.embedding) / sizes.total, 1))])


def table5(given: Given) -> Iterator[Found]:
    """5.1: the models of Table 5."""
    for row in given.tables["table5_models"].itertuples():
        sizes = _sizes(given, name := _LISTED[row.model])
        printed = f"{row.vocabulary} {row.embedding} {row.total} {row.share}"
        yield found(f"{sizes.vocabulary} {_printed(sizes)}", model=row.model, name=name, sizes=sizes, printed=printed)


def table6(given: Given) -> Iterator[Found]:
    """5.1: the DeBERTa models of Table 6."""
    table = given.tables["table6_deberta"].set_index("model")
    for name, label in SIZES.items():
        entry, sizes = given.entry(name), _sizes(given, name)
        printed = " ".join(table.loc[label, ["layers", "heads", "width", "embedding", "total", "share"]])
        value = f"{layers_of(entry)} {heads_of(entry)} {sizes.width} {_printed(sizes)}"
        yield found(value, model=label, sizes=sizes, printed=printed)


def shares(given: Given, *, models: str) -> Found:
    """5.2: whether both percentages of a cell can come from one count of tokens, each rounded to one decimal."""
    names = _LISTED | (_UNCASED if models == "uncased" else {})
    fits = {}
    for table, columns in (("table2_reduction", GLUE), ("table4_xnli", XNLI)):
        cells = given.tables[table].set_index(["kind", "model"])
        for model in dict.fromkeys(given.tables[table]["model"]):
            if (model in _UNCASED) == (models != "others"):
                ratio = Decimal((sizes := _sizes(given, names[model])).embedding) / sizes.total
                for column in columns:
                    embedding, whole = (Decimal(cells.loc[(kind, model), column]) for kind in ("embedding", "model"))
                    fits[f"{model} {column}"] = abs(embedding * ratio - whole) <= _HALF * ratio + _HALF
    return counted(fits)


def savings(given: Given) -> Found:
    """5.4: Table 3 from Table 2."""
    base = given.tables["table2_reduction"].set_index(["kind", "model"]).loc[("embedding", "DeBERTaV3")]
    printed = given.tables["table3_deberta_sizes"].set_index("model")
    fits = {}
    for name, label in SIZES.items():
        each = Decimal(_sizes(given, name).embedding) / 10**6 / 100
        for task in GLUE:
            gap = abs(Decimal(base[task]) * each - Decimal(printed.loc[label, task]))
            fits[f"{label} {task}"] = gap <= _HALF * each + _HALF
    return counted(fits)
