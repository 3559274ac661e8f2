"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from reprlab.concepts.curriculum import Counts, basic_concepts, kept_concepts
from reprlab.concepts.graph import UNREACHED, ConceptGraph
from reprlab.concepts.settings import FilterSettings
from reprlab.evaluation.metrics import score
from reprlab.reporting.audit import Found, found, mean, rounded
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of

TABLES = printed_of("domain-adaptive-masking").declarations()


def _tokens(given: Given, model: str) -> Decimal:
    """Tokens that a model has read: updates in thousands, a batch and a length."""
    batch, length = (Decimal(given.said[f"{model}_{name}"]) for name in ("batch", "length"))
    return batch * length


def tokens_per_update(given: Given, *, model: str) -> Decimal:
    """5.1: blocks of an update times their tokens."""
    return _tokens(given, model)


def compute_ratio(given: Given, *, thousands: str, places: str) -> Decimal:
    """5.1: tokens of BioBERT after this many thousand updates over ours."""
    steps = sum(Decimal(given.said[name]) for name in thousands.split())
    ours = _tokens(given, "ours") * Decimal(given.said["ours_updates"])
    return rounded(_tokens(given, "biobert") * steps / ours, int(places))


def saved(given: Given, *, thousands: str, places: str) -> Decimal:
    """5.1: what ours saves of BioBERT's tokens, in percent."""
    return rounded(100 - 100 / compute_ratio(given, thousands=thousands, places="6"), int(places))


def _column(given: Given, name: str) -> dict[str, Decimal]:
    return {task: Decimal(row[name]) for task, row in given.cells["table2"].items()}


def mean_of(given: Given, *, column: str) -> Decimal:
    """5.2: mean of a column of Table 2."""
    values = _column(given, column)
    return rounded(sum(values.values(), Decimal()) / len(values), 3)


def wins(given: Given, *, over: str) -> Found:
    """5.2: data sets of Table 2 on which ours is better than another model."""
    ours, other = _column(given, "ours"), _column(given, over)
    lost = {task: other[task] - ours[task] for task in ours if ours[task] <= other[task]}
    return found(len(ours) - len(lost), lost=", ".join(f"{task} by {gap}" for task, gap in lost.items()) or "none")


def mean_gap(given: Given, *, over: str) -> Decimal:
    """5.2: the mean of ours less that of another model."""
    return rounded((mean_of(given, column="ours") - mean_of(given, column=over)), 3)


def gap(given: Given, *, task: str, over: str) -> Decimal:
    """5.2: ours less another model on a data set of Table 2."""
    return _column(given, "ours")[task] - _column(given, over)[task]


def mean_again(given: Given) -> Decimal:
    """8, T6: the mean of BioBERT-v1.1 in its own PyTorch code."""
    return rounded(mean(row["biobert_v1_1"] for row in given.cells["again"].values()), 2)


def moved(given: Given, *, column: str) -> Decimal:
    """8, T6: a mean of Table 2 less that of the same model in BioBERT's own PyTorch code."""
    return rounded(mean_of(given, column=column) - Decimal(given.said[f"again_{column}_mean"]), 2)


def total(given: Given) -> str:
    """5, Table 1: all annotations."""
    return str(sum(Decimal(row["annotations"]) for row in given.cells["table1"].values()))


def tagger_parameters(given: Given, *, labels: str) -> int:
    """5.3: the encoder without its pooler, and a layer over its states."""
    import torch
    from transformers import BertConfig, BertForTokenClassification

    entry = given.entry("bert_base_uncased")
    with torch.device("meta"):
        config = BertConfig(**entry.config)
        config.num_labels = int(labels)
        model = BertForTokenClassification(config)
    return sum(parameter.numel() for parameter in model.parameters())


def toy(given: Given, *, hops: str, show: str) -> str:
    """5.4: the toy graph; f = 5, n = 2."""
    graph = ConceptGraph.of_assertions(["a\nb", "b\nc", "c\nd", "d\ne", "x\ny"])
    counts = Counts(domain=np.array([10, 9, 4, 1, 0, 9, 3]), general=np.array([0, 8, 1, 0, 0, 0, 0]))
    basic = basic_concepts(graph, counts.domain, 5, 2)
    if show == "basic":
        return " ".join(graph.concepts[one] for one in basic)
    _, kept = kept_concepts(graph.distances(basic, int(hops)) != UNREACHED, counts, FilterSettings(general_limit=5 / 3))
    return " ".join(np.array(graph.concepts)[kept])


def entity_score(given: Given, *, gold: str, predicted: str) -> str:
    """5.7, 5.8: F1 of entities, as a share."""
    return f"{score('entity_f1', [gold.split()], [predicted.split()]) / 100:g}"
