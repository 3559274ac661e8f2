"""Sizes that the paper prints, counted on the meta device."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reprlab.papers.prompt_tuning_encoders.names import ROWS
from reprlab.reporting.audit import Found, found
from reprlab.reporting.audit_given import Given
from reprlab.sentences.settings import EncoderSettings
from reprlab.sentences.sizes import EncoderSize, encoder_size

_MODELS = {"OPT-125M": "opt_125m", "LLaMA2-7B": "llama_2_7b_chat", "LLaMA3-8B": "llama_3_8b"}
_ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
_KINDS = {"full": "full", "lora_uni": "lora", "lora_bi": "lora", "spt_uni_eosp": "prompt", "spt_v2": "prefix"}


@functools.cache
def _size(entry: str, method: str, size: int) -> EncoderSize:
    from reprlab.registry.models import ModelEntry

    own: dict[str, Any] = {"vectors": size} if method in ("prompt", "prefix") else {}
    if method == "lora":
        own = {"adapter": {"rank": size, "alpha": 32, "targets": _ALL}}
    settings = EncoderSettings.model_validate({"method": method, "pooling": "last", **own})
    return encoder_size(ModelEntry.model_validate_json(entry), settings)


def _sized(given: Given, model: str, method: str, size: int) -> EncoderSize:
    """The sizes of an encoder around a model of the registry."""
    return _size(given.entry(model).model_dump_json(), method, size)


def _rows(given: Given) -> Iterator[tuple[dict[str, Any], EncoderSize]]:
    for number, row in enumerate(given.tables["table4"].to_dict("records"), start=1):
        encoder, size = ROWS[row["row"]]
        texts = {name: row[name] for name in ("model", "row", "k")} | {"number": number}
        yield texts | row, _sized(given, _MODELS[row["model"]], _KINDS[encoder], int(row["k"] or size))


def trained_numbers(given: Given) -> Iterator[Found]:
    """5.1: trained parameters of every row of Table 4."""
    for row, size in _rows(given):
        note = "" if size.trained == int(row["trained"]) else "grouped heads: see 5.1.kv"
        yield _found(row, size.trained, size.trained == int(row["trained"]), row["trained"], note)


def totals(given: Given) -> Iterator[Found]:
    """5.1: trained and base together."""
    for row, size in _rows(given):
        yield _found(row, size.total, size.total == int(row["total"]), row["total"], "")


def shares(given: Given) -> Iterator[Found]:
    """5.1: the percentage, at the places that are printed."""
    for row, size in _rows(given):
        printed = Decimal(row["share"])
        places = -int(printed.as_tuple().exponent)  # type: ignore[arg-type]
        agrees = abs(Decimal(size.share) - printed) <= Decimal(5).scaleb(-places - 1)
        note = "" if agrees else f"printed over true: {printed / Decimal(size.share):.2g}"
        yield _found(row, f"{size.share:.7f}".rstrip("0").rstrip("."), agrees, row["share"], note)


def _found(row: dict[str, Any], value: object, agrees: bool, printed: str, note: str) -> Found:
    texts = {name: row[name] for name in ("model", "row", "k", "number")}
    return found(value, agrees, printed=printed, note=note, **texts)


def without_grouped_heads(given: Given) -> int:
    """5.1: adapters of rank 16 on LLaMA3 if its keys and values had as many heads as its queries."""
    entry = given.entry("llama_3_8b")
    heads = {"num_key_value_heads": entry.config["num_attention_heads"]}
    whole = entry.model_copy(update={"config": {**entry.config, **heads}})
    return _size(whole.model_dump_json(), "lora", 16).trained


def below(given: Given, *, model: str, method: str, size: str, about: str) -> Found:
    """Trap 6: a share that is said to be below 0.001 %."""
    share = _sized(given, model, method, int(size)).share
    return found(f"{share:.4f}", share < float(given.said["trained_percent"]))


def fewer_than_lora(given: Given) -> Found:
    """Trap 6: SPT v2 with k = 10 beside adapters of rank 1."""
    prefix, adapters = (_sized(given, "llama_2_7b_chat", kind, n).trained for kind, n in (("prefix", 10), ("lora", 1)))
    return found(f"{prefix} against {adapters}", prefix < adapters)
