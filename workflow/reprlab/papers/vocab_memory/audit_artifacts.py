"""Check 5.11e: PEMA as artifacts, from a model and its data to folders that any trainer opens, and back to a model."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprlab.artifacts.tables import write_parquet
from reprlab.models.build import save_model
from reprlab.reporting.audit import AuditRow, check
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.pema_artifacts import pema_adapt, pema_restore
from reprlab.training.settings import EngineSettings, OptimizerSettings

_TOKENS = ("<pad>", "red", "green", "blue")


def artifact_check(words: str = "blue red", start: float = 1.0) -> Iterator[AuditRow]:
    """A BERT whose rows are start .. start + 3, and data of `words`: adapted, saved, trained, restored and opened."""
    import torch
    from transformers import BertConfig, BertModel

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        original, tokenizer, examples, trained = (
            folder / part for part in ("original", "tokenizer", "data", "trained")
        )
        torch.manual_seed(0)
        sizes: dict[str, Any] = {
            "hidden_size": 4,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 8,
        }
        model: Any = BertModel(BertConfig(vocab_size=len(_TOKENS), pad_token_id=0, max_position_embeddings=16, **sizes))
        _fill(model, [start + row for row in range(len(_TOKENS))])
        save_model(model, original)
        _write_tokenizer(tokenizer)
        _write_examples(examples, words)
        settings = FinetuneSettings(
            task=TaskSettings(kind="classification", metrics=["accuracy"], input_length=8),
            engine=EngineSettings(steps=1, batch_size=1, optimizer=OptimizerSettings(learning_rate=1e-3)),
            learning_rates=[1e-3],
            partial_embedding=["train"],
        )
        pema_adapt(original, tokenizer, examples, settings, folder / "adapted")
        adapted: Any = _opened(folder / "adapted/model")
        cut = _rows(adapted)
        _fill(adapted, [5.0 + row for row in range(len(cut))])
        save_model(adapted, trained)
        pema_restore(trained, folder / "adapted", original, tokenizer, folder / "whole")
        whole = _rows(_opened(folder / "whole"))
    yield check(
        "5.11e",
        "Rows 1 to 4, data of tokens 3, 1 and padding, adapted to a folder; rows set to 5, 6, 7 and restored to one",
        "[1.0, 2.0, 4.0], then [5.0, 6.0, 3.0, 7.0]",
        f"{cut}, then {whole}",
        "each folder opened with from_pretrained",
    )


def _opened(folder: Path) -> Any:
    from transformers import BertForSequenceClassification

    return BertForSequenceClassification.from_pretrained(folder, use_safetensors=True, trust_remote_code=False)


def _fill(model: Any, values: list[float]) -> None:
    import torch

    weight = model.get_input_embeddings().weight
    weight.data.copy_(torch.tensor(values)[:, None].expand_as(weight))


def _rows(model: Any) -> list[Any]:
    """The number that each row of the input embedding holds, or the whole row where it holds several."""
    matrix = model.get_input_embeddings().weight.detach()
    found: list[Any] = (matrix[:, 0] if (matrix == matrix[:, :1]).all() else matrix).tolist()
    return found


def _write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({token: number for number, token in enumerate(_TOKENS)}))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=_TOKENS[0]).save_pretrained(folder)


def _write_examples(path: Path, words: str) -> None:
    import pyarrow

    splits = ("train", "validation")
    rows = [{"id": split, "group": split, "text": words, "label": "0", "split": split} for split in splits]
    about = {"name": "known_answer", "title": "Known answer", "kind": "single", "labels": ["0", "1"]}
    write_parquet(path, pyarrow.Table.from_pylist(rows).replace_schema_metadata({"reprlab": json.dumps(about)}))
