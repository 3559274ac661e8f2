"""Checks 5.9 to 5.12: PEMA itself, on a tiny BERT: what stays the same bit by bit, in memory and in folders."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import torch
from transformers import BertConfig, BertForSequenceClassification

from reprlab.artifacts.tables import write_parquet
from reprlab.models.build import save_model
from reprlab.models.pema import PartialVocabulary, adapt_embedding, keep_states_whole, restore_embedding
from reprlab.models.random_model import one_thread
from reprlab.reporting.audit import Found, found
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import generator, held
from reprlab.text.small_tokenizers import words_tokenizer
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.pema_artifacts import pema_adapt, pema_restore
from reprlab.training.settings import EngineSettings, OptimizerSettings

_TOKENS = ("<pad>", "red", "green", "blue")
_ROWS, _WIDTH, _USED, _STEPS = 3_000, 64, 401, 20
_WORDS = "bert.embeddings.word_embeddings.weight"


@dataclass(frozen=True)
class _Run:
    losses: list[float]
    state: dict[str, Any]
    original: Any

    def equals(self, other: _Run, rows: Any = slice(None)) -> bool:
        """Whether losses, other weights and these rows of the embedding are the same bit by bit."""
        ours, theirs = ({**run.state, _WORDS: run.state[_WORDS][rows]} for run in (self, other))
        return self.losses == other.losses and all(torch.equal(value, theirs[name]) for name, value in ours.items())


def bert(rows: int, width: int, padding: int | None) -> Any:
    """A classifier of one layer with random weights."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"vocab_size": rows, "hidden_size": width, "intermediate_size": 2 * width}
    layers: dict[str, Any] = {"num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 32}
    return BertForSequenceClassification(BertConfig(pad_token_id=padding, **sizes, **layers))


def _vocabulary() -> PartialVocabulary:
    rng = generator(9)
    return PartialVocabulary.of_ids([rng.choice(np.arange(1, _ROWS), size=_USED - 1, replace=False)], _ROWS, [0])


@one_thread()
def _train(pema: bool, *, weight_decay: float = 0.0, clip: bool = True) -> _Run:
    model, vocabulary = bert(_ROWS, _WIDTH, 0), _vocabulary()
    original = model.get_input_embeddings().weight.detach().clone()
    if pema:
        adapt_embedding(model, vocabulary)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=weight_decay)
    rng = generator(10)
    losses = []
    for step in range(_STEPS):
        ids, labels = rng.choice(vocabulary.selected, size=(8, 16)), torch.from_numpy(rng.integers(0, 2, size=8))
        torch.manual_seed(step)
        shown = vocabulary.renumber(ids) if pema else ids
        loss = model(input_ids=torch.from_numpy(shown), labels=labels).loss
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    if pema:
        restore_embedding(model, vocabulary, original)
    return _Run(losses, model.state_dict(), original)


def equivalence(given: Given) -> Iterator[Found]:
    setting = {"rows": _ROWS, "used": _USED, "steps": _STEPS}
    for clip in (True, False):
        whole, partial = (_train(pema, clip=clip) for pema in (False, True))
        yield found(whole.equals(partial), **setting)
    whole, partial = (_train(pema, weight_decay=0.01) for pema in (False, True))
    vocabulary = _vocabulary()
    yield found(whole.equals(partial, vocabulary.selected), **setting)
    unused = vocabulary.token_map < 0
    kept = torch.equal(partial.state[_WORDS][unused], partial.original[unused])
    moved = bool((whole.state[_WORDS][unused] != whole.original[unused]).all(dim=1).all())
    shrunk = "with weight decay they shrink in ordinary training, and stay as they were with PEMA"
    yield found(shrunk if kept and moved else "otherwise", not moved)


@one_thread()
def forward(given: Given) -> Found:
    """5.10: the forward pass with the adapted matrix, and after restoring."""
    model, vocabulary = bert(_ROWS, _WIDTH, 0).eval(), _vocabulary()
    ids = generator(11).choice(vocabulary.selected, size=(4, 16))
    original = model.get_input_embeddings().weight.detach().clone()
    with torch.no_grad():
        before = model(torch.from_numpy(ids)).logits
        adapt_embedding(model, vocabulary)
        during = model(torch.from_numpy(vocabulary.renumber(ids))).logits
        restore_embedding(model, vocabulary, original)
        after = model(torch.from_numpy(ids)).logits
    properties = {
        "logits of the adapted model": torch.equal(before, during),
        "logits after restoring": torch.equal(before, after),
        "restore(adapt(E)) = E": torch.equal(model.get_input_embeddings().weight, original),
        "map of the selected ids": (vocabulary.token_map[vocabulary.selected] == np.arange(_USED)).all(),
        "ids there and back": (vocabulary.selected[vocabulary.renumber(ids)] == ids).all(),
        "padding keeps its id": vocabulary.token_map[0] == 0,
    }
    return held(properties)


def fill(model: Any, values: Sequence[float]) -> Any:
    """Make each row of the input embedding hold one number; gives the whole matrix that they stand for."""
    weight = model.get_input_embeddings().weight
    weight.data.copy_(matrix := torch.tensor(values)[:, None].expand_as(weight))
    return matrix.clone()


def shown(matrix: Any) -> Any:
    """The number that each row of a matrix holds, or the whole row where it holds several."""
    return (matrix[:, 0] if (matrix == matrix[:, :1]).all() else matrix).tolist()


def known_answer(given: Given, selected: Sequence[int] = (3, 1), start: float = 1.0) -> Iterator[Any]:
    """5.11: a BERT whose embedding has the rows start .. start + 3, adapted, saved, restored and loaded."""
    vocabulary, model = PartialVocabulary(np.array(selected), 4), bert(4, 4, None)
    embedding = model.get_input_embeddings()
    original = fill(model, [start + row for row in range(4)])
    adapt_embedding(model, vocabulary)
    yield shown(embedding.weight)
    take_off = keep_states_whole(model, vocabulary, lambda: original)
    fill(model, [5.0, 6.0])
    state = model.state_dict()
    yield shown(state[_WORDS])
    model.load_state_dict({**state, _WORDS: original + 4})
    yield shown(embedding.weight)
    take_off()
    fill(model, [5.0, 6.0])
    restore_embedding(model, vocabulary, original)
    yield shown(embedding.weight)


def limits(given: Given) -> Found:
    def used(sets: Sequence[Any]) -> Any:
        return PartialVocabulary.of_ids(sets, 300).selected

    rng = generator(12)
    sets = [rng.integers(0, 200, size=60) for _ in range(4)]
    sizes, singles = [len(used(sets[:count])) for count in range(1, 5)], [len(used([ids])) for ids in sets]
    everything = PartialVocabulary.of_ids([np.arange(300)], 300)
    properties = {
        "all tokens used: nothing is saved, ids stay": (everything.token_map == np.arange(300)).all(),
        "one token besides the special one": len(PartialVocabulary.of_ids([np.array([7])], 300, [0]).selected) == 2,
        "order does not matter": (used(sets[::-1]) == used(sets)).all(),
        "more splits use no fewer tokens": sizes == sorted(sizes),
        "a union has between the largest and the sum": max(singles) <= sizes[-1] <= sum(singles),
    }
    return held(properties)


def folders(given: Given, words: str = "blue red", start: float = 1.0) -> str:
    """A BERT whose rows are start .. start + 3, and data of `words`: adapted, saved, trained, restored and opened."""
    with tempfile.TemporaryDirectory() as name:
        original, tokenizer, examples, trained, adapted, whole = (
            Path(name) / part for part in ("original", "tokenizer", "data", "trained", "adapted", "whole")
        )
        model = bert(len(_TOKENS), 4, 0)
        fill(model, [start + row for row in range(len(_TOKENS))])
        save_model(model.bert, original)
        words_tokenizer(_TOKENS).save_pretrained(tokenizer)
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
    return BertForSequenceClassification.from_pretrained(folder, use_safetensors=True, trust_remote_code=False)


def _write_examples(path: Path, words: str) -> None:
    splits = ("train", "validation")
    rows = [{"id": split, "group": split, "text": words, "label": "0", "split": split} for split in splits]
    about = {"name": "known_answer", "title": "Known answer", "kind": "single", "labels": ["0", "1"]}
    write_parquet(path, pyarrow.Table.from_pylist(rows).replace_schema_metadata({"reprlab": json.dumps(about)}))
