"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from reprlab.papers.overparameterized_encoders.audit_recipes import (  # noqa: F401 (named by records)
    double_norm,
    early_exit,
    reopened,
    three_lines,
    untouched_layers,
    without_norm,
)
from reprlab.reporting.audit import Found, decimals, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of
from reprlab.sentences.depths import kept_layers

TABLES = printed_of("overparameterized-encoders").declarations()
_SEVEN = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_MODELS = ("LLaMA-3-8B", "Mistral-7B", "Qwen2-7B", "Phi3-4B")


@functools.cache
def _size(models: Path, name: str, targets: tuple[str, ...] = _SEVEN) -> dict[str, int]:
    """Numbers of a model on the meta device: whole, without output layer, embedding, a layer, adapters; its layers."""
    import torch

    from reprlab.models.build import build_from_config
    from reprlab.registry.models import load_models
    from reprlab.sentences.early_exit import headless, layers_of
    from reprlab.sentences.encoder import add_low_rank
    from reprlab.sentences.settings import LowRank

    def count(module: Any) -> int:
        return sum(weight.numel() for weight in module.parameters())

    with torch.device("meta"):
        network = build_from_config(load_models(models)[name])
        decoder, layers = headless(network), layers_of(network)[0]
        found = {"with_head": count(network), "whole": count(decoder), "layers": len(layers), "layer": count(layers[0])}
        found["embedding"] = count(decoder.get_input_embeddings())
        settings = LowRank(rank=16, alpha=32, dropout=0.05, targets=list(targets), partial=True)
        found["adapted"] = len(add_low_rank(decoder, settings, 0))
        found["adapters"] = count(decoder) - found["whole"]
    return found


def sizes(given: Given, *, model: str, large: str, small: str) -> Iterator[Found]:
    """5.1: embedding, a layer, all without and with the output layer, adapters, and what is left at two depths."""
    size = _size(given.models, model)
    for name in ("embedding", "layer", "whole", "with_head", "adapters"):
        yield found(size[name])
    for kept in (large, small):
        left = size["whole"] - (size["layers"] - int(kept)) * size["layer"]
        yield found(left, share=rounded(Fraction(100 * left, size["whole"]), 2))


def _kept(given: Given, model: str, kept: str) -> tuple[Fraction, Decimal]:
    """Kept parameters as the paper reckons them, a share of everything with adapters, and as they are. In billions."""
    size = _size(given.models, model)
    share = Fraction(int(kept), size["layers"])
    left = size["whole"] - (size["layers"] - int(kept)) * size["layer"]
    return share * (size["whole"] + size["adapters"]) / 10**9, rounded(Fraction(left, 10**9), 3)


def implicit(given: Given, *, model: str, kept: str, text: str, where: str) -> Found:
    """5.2: the paper's formula gives the printed number, rounded or cut."""
    value, true = _kept(given, model, kept)
    places = decimals(text)
    scaled = value * 10**places
    agrees = Decimal(text) in (rounded(value, places), Decimal(int(scaled)).scaleb(-places))
    return found(rounded(value, 3), agrees, true=true)


def true_share(given: Given, *, model: str, kept: str, text: str) -> Found:
    """8.1: the share of the parameters that is kept in truth."""
    size = _size(given.models, model)
    left = size["whole"] - (size["layers"] - int(kept)) * size["layer"]
    share = rounded(Fraction(100 * left, size["whole"]), 1)
    return found(share, rounded(share, 0) == Decimal(text))


def grid(given: Given, *, layers: str) -> str:
    """5.3: layers that are kept of 0, 10, ..., 90 percent."""
    return " ".join(str(kept_layers(int(layers), percent)) for percent in range(0, 100, 10))


def floating_point(given: Given, *, layers: str) -> str:
    """5.3: the same by upstream's `int(n * (1 - p))`."""
    return " ".join(str(int(int(layers) * (1 - tenth / 10))) for tenth in range(10))


def tasks(given: Given) -> int:
    """5.11: the tasks of the categories."""
    rows = given.tables["table3"].set_index("category")["tasks"].astype(int)
    return int(rows.drop("overall").sum())


def pruned(given: Given, *, variant: str, text: str) -> Found:
    """5.12: mean share of the layers that is dropped, rounded or cut to whole percents."""
    whole = {name: 28 if name == "Qwen2-7B" else 32 for name in _MODELS}
    left = [Fraction(int(given.cells["table1"][f"{name} {variant}"]["layers"]), whole[name]) for name in _MODELS]
    share = 100 * (1 - sum(left) / len(left))
    return found(rounded(share, 2), int(text) in (int(share), int(rounded(share, 0))))


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
    names = ("llama_3_8b_instruct", "mistral_7b_instruct_v0_2", "qwen2_7b_instruct", "phi_3_mini_4k")
    totals = [Fraction(_size(given.models, name)["whole"], 10**9) for name in names]
    return rounded(min(totals) if which == "smallest" else max(totals), 1)


def phi_adapted(given: Given, *, targets: str, names: str) -> Found:
    """8.2: whole size with adapters on what the names match, in billions."""
    size = _size(given.models, "phi_3_mini_4k", tuple(targets.split()))
    total = Fraction(size["whole"] + size["adapters"], 10**9)
    each = size["adapted"] // size["layers"]
    return found(rounded(total, 2), each=each, adapters=size["adapters"])


def same_depth(given: Given, *, model: str, percent: str, text: str) -> Found:
    """8.6: the large variant is a depth of the grid, so that both deltas are one number."""
    row = given.cells["table1"][f"{model} large"]
    layers = 28 if model == "Qwen2-7B" else 32
    same = kept_layers(layers, int(percent)) == int(row["layers"])
    value = Decimal(row["delta"])
    return found(value, same and (not text or rounded(Decimal(text), 1) == value), same=same)
