"""Answers of the generative classifier: scores of the label strings, and what greedily written text stands for."""

from pathlib import Path

import numpy as np
import pytest
import torch
from event_samples import document
from finetune_fixtures import make_t5, make_tokenizer
from reprlab.events.classification import open_classifier, predict_labels
from reprlab.events.documents import EventDocument
from reprlab.events.generative import TextPairs
from reprlab.events.pairs import LabelledPairs
from reprlab.events.settings import PairClassification
from reprlab.inference.label_strings import label_string_scores
from reprlab.models.build import load_model
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.training.settings import EngineSettings, OptimizerSettings
from tokenizers.processors import TemplateProcessing

LABELS = ["good", "very good film"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny T5 whose tokenizer ends every text, as T5's does."""
    make_t5(tmp_path, make_tokenizer(tmp_path))
    tokenizer = load_tokenizer(tmp_path)
    end = [("</s>", tokenizer.eos_token_id)]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="$A </s>", special_tokens=end)
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


def opened(folder: Path, **changes: object) -> TextPairs:
    engine = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-2))
    base = {"events": {}, "kind": "generative", "labels": LABELS, "none": "bad", "engine": engine, "epochs": 1}
    found = open_classifier(folder, PairClassification.model_validate({**base, "max_length": 48, **changes}))
    assert isinstance(found, TextPairs)
    return found


def every_pair(one: EventDocument) -> LabelledPairs:
    pairs = one.pairs(False)
    return LabelledPairs(pairs, np.zeros(len(pairs), dtype=np.int64))


def test_the_score_of_a_label_is_the_mean_log_probability_of_its_tokens(folder: Path) -> None:
    """One label by itself, one input by itself, one token after the other."""
    model = load_model(folder).eval()
    inputs, labels = [[5, 6, 7, 8], [9, 10]], [[3], [4, 11, 12]]
    ids = torch.tensor([inputs[0], [*inputs[1], 0, 0]])
    with torch.inference_mode():
        found = label_string_scores(model, ids, (ids != 0).long(), torch.tensor([[3, -100, -100], labels[1]]))
        for row, given in enumerate(inputs):
            for number, label in enumerate(labels):
                written, total = [model.config.decoder_start_token_id], 0.0
                for token in label:
                    logits = model(input_ids=torch.tensor([given]), decoder_input_ids=torch.tensor([written])).logits
                    total += float(torch.log_softmax(logits[0, -1].double(), -1)[token])
                    written.append(token)
                assert float(found[row, number]) == pytest.approx(total / len(label), abs=1e-5)


def test_label_strings_are_scored_with_their_end(folder: Path) -> None:
    strings = opened(folder).strings.tolist()
    reader = load_tokenizer(folder)
    good, very, film, bad, end = reader.convert_tokens_to_ids(["good", "very", "film", "bad", "</s>"])
    assert strings == [[bad, end, -100, -100], [good, end, -100, -100], [very, good, film, end]]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("bad", 0),
        ("good", 1),
        ("very good film", 2),
        ("", 0),
        ("film", 0),
        ("very good", 0),
        ("good good", 0),
        ("very good film .", 0),
    ],
)
def test_only_the_text_of_a_label_is_that_label(
    text: str, number: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier = opened(folder, decoding="greedy")
    one = document(size=2)
    pairs = [every_pair(one)]
    written = torch.tensor([[0, *classifier.tokenizer(text)["input_ids"], 0]])
    # As much as it may write.
    monkeypatch.setattr(classifier.model, "generate", lambda max_new_tokens, **_: written[:, : 1 + max_new_tokens])
    assert [found.tolist() for found in predict_labels(classifier, [one], pairs, device="cpu", batch_size=2)] == [
        [number]
    ]


def test_greedy_answers_are_what_the_model_writes_token_by_token(folder: Path) -> None:
    """Of each pair by itself. It is taught a label for some pairs and another text for the others."""
    classifier = opened(folder, decoding="greedy")
    documents = [document("d", size=6), document("e", size=1), document("f", size=4)]
    pairs = [every_pair(one) for one in documents]
    items = classifier.prepare(documents, pairs)
    batch = items.batch(np.arange(len(items)))
    heads = np.concatenate([found.pairs[:, 0] for found in pairs])
    taught = [["good", "very good film", "film"][head % 3] for head in heads]
    answers = classifier.tokenizer(taught, padding=True, return_tensors="pt")["input_ids"]
    model, optimizer = classifier.model.train(), torch.optim.Adam(classifier.model.parameters(), lr=1e-2)
    for _ in range(80):
        inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
        model(**inputs, labels=answers.masked_fill(answers == 0, -100)).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()

    def written(row: int) -> str:
        ids = torch.tensor(items.inputs.pad(np.array([row]), 0))
        tokens = [model.config.decoder_start_token_id]
        while len(tokens) < 9 and tokens[-1] != model.config.eos_token_id:
            tokens.append(int(model(input_ids=ids, decoder_input_ids=torch.tensor([tokens])).logits[0, -1].argmax()))
        return str(classifier.tokenizer.decode(tokens, skip_special_tokens=True))

    with torch.inference_mode():
        texts = [written(row) for row in range(len(items))]
    assert {"good", "very good film"} < set(texts), "both labels are written, and something else"
    wanted = [{"good": 1, "very good film": 2}.get(text, 0) for text in texts]
    for batch_size in (1, 4):
        found = predict_labels(classifier, documents, pairs, device="cpu", batch_size=batch_size)
        assert np.concatenate(found).tolist() == wanted and [len(one) for one in found] == [15, 0, 6]
    scored = opened(folder, decoding="scored")
    scored.model = model
    assert np.concatenate(predict_labels(scored, documents, pairs, device="cpu", batch_size=4)).tolist() != wanted
