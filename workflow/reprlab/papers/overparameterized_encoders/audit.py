"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import misprint
from reprlab.results.words import printed_of
from reprlab.sentences.depths import kept_layers

TABLES = printed_of("overparameterized-encoders").declarations()
_SEVEN = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_MODELS = {
    "LLaMA-3-8B": "llama_3_8b_instruct", "Mistral-7B": "mistral_7b_instruct_v0_2",
    "Qwen2-7B": "qwen2_7b_instruct", "Phi3-4B": "phi_3_mini_4k",
}  # fmt: skip


@functools.cache
def _counted(entry: str, targets: tuple[str, ...]) -> Mapping[str, int]:
    """Numbers of a model on the meta device: without output layer, a layer, adapters; its layers."""
    import torch

    from reprlab.models.build import build_from_config
    from reprlab.registry.models import ModelEntry
    from reprlab.sentences.early_exit import headless, layers_of
    from reprlab.sentences.encoder import add_low_rank
    from reprlab.sentences.settings import LowRank

    def count(module: Any) -> int:
        return sum(weight.numel() for weight in module.parameters())

    with torch.device("meta"):
        network = build_from_config(ModelEntry.model_validate_json(entry))
        decoder, layers = headless(network), layers_of(network)[0]
        found = {"whole": count(decoder), "layers": len(layers), "layer": count(layers[0])}
        settings = LowRank(rank=16, alpha=32, dropout=0.05, targets=list(targets), partial=True)
        found["adapted"] = len(add_low_rank(decoder, settings, 0))
        found["adapters"] = count(decoder) - found["whole"]
    return found


def _size(given: Given, model: str, targets: tuple[str, ...] = _SEVEN) -> Mapping[str, int]:
    return _counted(given.entry(model).model_dump_json(), targets)


def _left(size: Mapping[str, int], kept: int) -> int:
    """Numbers of a model of which this many layers are kept."""
    return size["whole"] - (size["layers"] - kept) * size["layer"]


def _layers(given: Given, row: str) -> int:
    return int(given.cells["table1"][row]["layers"])


def implicit(given: Given, *, model: str, where: str, row: str = "", percent: str = "", said: str = "") -> Found:
    """5.2: kept billions as the paper reckons them: a share of everything with adapters, of a row or a percentage."""
    size = _size(given, model)
    kept = _layers(given, row) if row else kept_layers(size["layers"], int(percent))
    value = Fraction(kept * (size["whole"] + size["adapters"]), size["layers"] * 10**9)
    printed = given.cells["table1"][row]["params"] if row else given.said[said]
    true = rounded(Fraction(_left(size, kept), 10**9), 3)
    return found(rounded(value, 9), printed=printed, kept=kept, true=true)


def true_share(given: Given, *, model: str, row: str) -> Found:
    """8.1: the share of the parameters that is kept in truth."""
    size = _size(given, model)
    share = Fraction(100 * _left(size, _layers(given, row)), size["whole"])
    return found(rounded(share, 9), printed=given.cells["table1"][row]["pct"])


def tasks(given: Given) -> int:
    """5.11: the tasks of the categories."""
    rows = given.tables["table3"].set_index("category")["tasks"].astype(int)
    return int(rows.drop("overall").sum())


def pruned(given: Given, *, variant: str) -> Decimal:
    """5.12: mean share of the layers that is dropped, in percent."""
    left = [
        Fraction(_layers(given, f"{name} {variant}"), given.entry(entry).config["num_hidden_layers"])
        for name, entry in _MODELS.items()
    ]
    return rounded(100 * (1 - sum(left) / len(left)), 9)


def mean_delta(given: Given, *, variant: str, where: str) -> Decimal:
    """5.12: mean difference to the whole model."""
    return sum((_delta(given, name, variant) for name in _MODELS), Decimal()) / len(_MODELS)


def least_delta(given: Given, *, variant: str) -> Decimal:
    """5.12: the smallest loss of a variant."""
    return max(_delta(given, name, variant) for name in _MODELS)


def _delta(given: Given, model: str, variant: str) -> Decimal:
    return Decimal(given.cells["table1"][f"{model} {variant}"]["delta"])


def unpruned(given: Given, *, model: str) -> Decimal:
    """8.5: the score of the whole model that Table 1 implies."""
    row = given.cells["table1"][f"{model} large"]
    return Decimal(row["score"]) - Decimal(row["delta"])


def all_sizes(given: Given, *, which: str, where: str) -> Decimal:
    """8.5: the smallest or the largest model, in billions, without output layer."""
    totals = [Fraction(_size(given, name)["whole"], 10**9) for name in _MODELS.values()]
    return rounded(min(totals) if which == "smallest" else max(totals), 9)


def phi_adapted(given: Given, *, targets: str, names: str) -> Found:
    """8.2: whole size with adapters on what the names match, in billions."""
    size = _size(given, "phi_3_mini_4k", tuple(targets.split()))
    total = Fraction(size["whole"] + size["adapters"], 10**9)
    each = size["adapted"] // size["layers"]
    return found(rounded(total, 9), each=each, adapters=size["adapters"])


def same_depth(given: Given, *, entry: str, model: str, percent: str, said: str) -> Found:
    """8.6: the large variant is a depth of the grid, so that both deltas are one number."""
    layers = given.entry(entry).config["num_hidden_layers"]
    same = kept_layers(layers, int(percent)) == _layers(given, f"{model} large")
    value, printed = given.cells["table1"][f"{model} large"]["delta"], given.said[said]
    return found(value, same and not misprint(Decimal(printed), value), printed=printed, same=same)
