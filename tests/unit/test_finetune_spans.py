"""Answers as spans: targets, what is cut off, the best span, and that it learns."""

from pathlib import Path

import numpy as np
import pytest
import torch
from coreference_samples import bert_tokenizer
from finetune_fixtures import make_examples
from reprlab.artifacts.tables import read_tsv
from reprlab.data.readers.squad_answers import _placed
from reprlab.stages.finetune_model import finetune_model
from reprlab.training.finetuning import prepare_task
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.finetuning_spans import _best_spans, _target
from reprlab.training.settings import EngineSettings, OptimizerSettings
from transformers import BertConfig, BertModel

CONTEXT = "the good film was bad"


def settings(**changes) -> FinetuneSettings:
    engine = EngineSettings(steps=30, batch_size=4, optimizer=OptimizerSettings(learning_rate=1e-2))
    task = TaskSettings(kind="spans", metrics=["exact_match"], input_length=24)
    return FinetuneSettings(**{"task": task, "engine": engine, "learning_rates": [2e-3], "resamples": 10, **changes})


@pytest.fixture
def inputs(tmp_path: Path) -> dict:
    """Questions whose answer is the word that they name."""
    tokenizer = bert_tokenizer(tmp_path / "tokenizer")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64, hidden_dropout_prob=0.0,
    )  # fmt: skip
    BertModel(config).save_pretrained(tmp_path / "model")
    rows = [
        {"question": word, "context": CONTEXT, "answers": [word], "starts": [CONTEXT.index(word)]}
        for word in ("good", "film", "bad", "was")
    ]
    rows.append({"question": "house", "context": CONTEXT, "answers": [], "starts": []})
    return {"examples": make_examples(tmp_path / "examples.parquet", "span_qa", rows), "folder": tmp_path}


def test_targets_are_the_tokens_of_the_answer(inputs: dict) -> None:
    prepared = prepare_task(inputs["examples"], inputs["folder"] / "tokenizer", settings())
    split = prepared.encoded["train"]
    # [CLS] question [SEP] context: the context begins at token 3.
    assert split.targets.tolist() == [[4, 4], [5, 5], [7, 7], [6, 6], [0, 0]]
    assert split.gold == [["good"], ["film"], ["bad"], ["was"], [""]]
    for places in (split.first, split.last):
        (row,) = places.pad(np.array([0]), 0)
        # No token of the question, nor one between or behind them, is one of the context.
        assert np.flatnonzero(row < 0).tolist() == [0, 1, 2, len(row) - 1]


def test_text_that_spells_a_special_token_is_text(tmp_path: Path) -> None:
    tokenizer = bert_tokenizer(tmp_path / "tokenizer")
    rows = [{"question": "who [SEP] was", "context": "[CLS] the film [PAD]", "answers": ["film"], "starts": [10]}]
    make_examples(tmp_path / "examples.parquet", "span_qa", rows)
    task = TaskSettings(kind="spans", metrics=["exact_match"], input_length=60)
    split = prepare_task(tmp_path / "examples.parquet", tmp_path / "tokenizer", settings(task=task)).encoded["train"]
    ids = split.inputs.flat.tolist()
    special = [index for index in ids if index in (tokenizer.cls_token_id, tokenizer.sep_token_id, 0)]
    assert special == [tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.sep_token_id]
    (first, last), *_ = split.targets.tolist()
    assert first == last and tokenizer.convert_ids_to_tokens(ids[first]) == "film"


def test_an_answer_of_several_tokens_and_one_that_is_cut_off() -> None:
    first, last = np.array([-1, 0, 4, 9, -1]), np.array([-1, 3, 8, 13, -1])
    assert _target(first, last, [0], ["the good"]) == (1, 2)
    assert _target(first, last, [4], ["good film was"]) == (0, 0)
    assert _target(first, last, [], []) == (0, 0)


def test_the_best_span_is_in_the_context_and_ends_behind_its_start() -> None:
    scores = torch.zeros(1, 5, 2)
    inside = torch.tensor([[False, False, True, True, True]])
    scores[0, 4, 0], scores[0, 2, 1], scores[0, 1] = 5.0, 5.0, 9.0
    # The pair (4, 2) has the highest sum and runs backwards; (2, 2) and (4, 4) are equal, the first is taken.
    assert _best_spans(scores, inside) == [[2, 2]]
    scores[0, 0] = 4.0
    assert _best_spans(scores, inside) == [[0, 0]]


def test_it_learns_to_point_at_the_word(inputs: dict) -> None:
    folder = inputs["folder"]
    metrics, answers = folder / "metrics.tsv", folder / "predictions.parquet"
    finetune_model(
        models=[folder / "model"], names=["m"], tokenizer=folder / "tokenizer", examples=inputs["examples"],
        out_metrics=metrics, out_predictions=answers, work=folder / "work", fingerprint="x",
        settings=settings(engine=settings().engine.model_copy(update={"steps": 200})),
    )  # fmt: skip
    assert read_tsv(metrics)["value"].tolist() == [100.0]


def test_answers_that_are_a_place_off_are_set_right() -> None:
    """As fifteen of SQuAD 1.1's development set, which begin with a space."""
    assert _placed("1", "In round, 23-16, by", " 23-16", 8) == ("23-16", 10)
    assert _placed("1", "a b a", "a", 4) == ("a", 4)
    for text, start in (("z", 0), (" ", 1), ("a", 9)):
        with pytest.raises(ValueError, match="is not where it is said"):
            _placed("1", "a b a", text, start)
