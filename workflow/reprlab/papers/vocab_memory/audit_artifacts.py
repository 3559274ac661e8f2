"""Check 5.11e: PEMA as artifacts, from a model and its data to folders that any trainer opens, and back to a model."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from reprlab.artifacts.tables import write_parquet
from reprlab.models.build import save_model
from reprlab.papers.vocab_memory.audit_training import bert, fill, shown
from reprlab.reporting.audit_records import Given
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.pema_artifacts import pema_adapt, pema_restore
from reprlab.training.settings import EngineSettings, OptimizerSettings

_TOKENS = ("<pad>", "red", "green", "blue")


def folders(given: Given, words: str = "blue red", start: float = 1.0) -> str:
    """A BERT whose rows are start .. start + 3, and data of `words`: adapted, saved, trained, restored and opened."""
    with tempfile.TemporaryDirectory() as name:
        original, tokenizer, examples, trained, adapted, whole = (
            Path(name) / part for part in ("original", "tokenizer", "data", "trained", "adapted", "whole")
        )
        model = bert(len(_TOKENS), 4, 0)
        fill(model, [start + row for row in range(len(_TOKENS))])
        save_model(model.bert, original)
        _write_tokenizer(tokenizer)
        _write_examples(examples, words)
        settings = FinetuneSettings(
            task=TaskSettings(kind="classification", metrics=["accuracy"], input_length=8),
            engine=EngineSettings(steps=1, batch_size=1, optimizer=OptimizerSettings(learning_rate=1e-3)),
            learning_rates=[1e-3],
            partial_embedding=["train"],
        )
        pema_adapt(original, tokenizer, examples, settings, adapted)
        opened = _opened(adapted / "model")
        cut = shown(opened.get_input_embeddings().weight)
        fill(opened, [5.0 + row for row in range(len(cut))])
        save_model(opened, trained)
        pema_restore(trained, adapted, original, tokenizer, whole)
        return f"{cut}, then {shown(_opened(whole).get_input_embeddings().weight)}"


def _opened(folder: Path) -> Any:
    from transformers import BertForSequenceClassification

    return BertForSequenceClassification.from_pretrained(folder, use_safetensors=True, trust_remote_code=False)


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
