"""Tiny tokenizers, models and example tables for the tests of fine-tuning."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import torch
from reprlab.artifacts.tables import write_parquet
from reprlab.text.vocabulary import Vocabulary
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

WORDS = [
    "good",
    "bad",
    "film",
    "was",
    "the",
    "very",
    "a",
    "b",
    "c",
    "d",
    "e",
    "first",
    "second",
    "third",
    "positive",
    "negative",
    "coherent",
    ":",
    "sst2",
    "sentence",
    ".",
    "First",
    "Second",
    "Incoherent",
    "Coherent",
    "SParxiv",
    "_",
]


def make_tokenizer(folder: Path) -> Vocabulary:
    """A word-level tokenizer folder in the project's layout; words split at blanks and punctuation."""
    pieces = {word: number for number, word in enumerate(["<pad>", "</s>", "<unk>", *WORDS])}
    vocabulary = Vocabulary(len(pieces))
    tokenizer = Tokenizer(models.WordLevel({**pieces, **vocabulary.tokens()}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        additional_special_tokens=list(vocabulary.tokens()),
    )  # fmt: skip
    fast.save_pretrained(folder)
    vocabulary.save(folder)
    return vocabulary


def make_t5(folder: Path, vocabulary: Vocabulary, *, seed: int = 0, attention: str = "sdpa") -> Path:
    """A random T5: 2 + 2 layers, width 16."""
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=vocabulary.padded_size, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2,
        feed_forward_proj="gated-gelu", dropout_rate=0.0, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    config._attn_implementation = attention
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def make_bert(folder: Path, vocabulary: Vocabulary) -> Path:
    """A random BERT: 2 layers, width 16."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=vocabulary.padded_size, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, pad_token_id=0,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return folder


def make_examples(path: Path, kind: str, rows: list[dict[str, Any]], labels: list[str] | None = None) -> Path:
    """An example table; rows without a split come three times: train, validation, test."""
    full = []
    for number, row in enumerate(rows):
        splits = [row["split"]] if "split" in row else ["train", "validation", "test"]
        full += [{"id": f"{number}-{split}", "group": str(number), **row, "split": split} for split in splits]
    table = pyarrow.Table.from_pylist(full)
    about = {"name": "toy", "title": "Toy", "kind": kind, "labels": labels or []}
    write_parquet(path, table.replace_schema_metadata({"reprlab": json.dumps(about)}))
    return path


def sentiment_rows(count: int = 24) -> list[dict[str, Any]]:
    """Trivially separable sentences of different lengths."""
    rows = []
    for number in range(count):
        word = "good" if number % 2 else "bad"
        filler = " very" * (number % 5)
        last = "abcde"[number % 5]
        rows.append({"text": f"the film was{filler} {word} {last}", "label": str(number % 2)})
    return rows
