"""What encoders are given of events: ids of words and mentions, byte-level ones too, and how often each is encoded."""

import json
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from event_samples import document, write_documents
from finetune_fixtures import make_bert, make_tokenizer
from reprlab.data.event_rows import Mention, event_row
from reprlab.events import discriminative, rankings
from reprlab.events.classification import open_classifier, predict_labels
from reprlab.events.documents import EventDocument, event_document, load_events
from reprlab.events.encodings import MARKERS, mention_texts
from reprlab.events.mention_inputs import mention_pieces
from reprlab.events.pairs import inference_pairs, read_candidates
from reprlab.events.rankings import mention_vectors, rank_at_random
from reprlab.events.settings import EventSelection, PairClassification, Retrieval
from reprlab.events.windows import encode_documents, open_word_tokenizer, word_pieces
from reprlab.models.build import load_model
from reprlab.retrieval.bi_encoder import add_tokens, embed
from reprlab.stages.rank_partners import rank_partners
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.training.settings import EngineSettings, OptimizerSettings
from tokenizers import ByteLevelBPETokenizer
from transformers import RobertaTokenizer

SENTENCE = ["Police", "said", "the", "bomb", "went", "suddenly", "off", ",", "people", "left"]


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    make_bert(tmp_path / "bert", make_tokenizer(tmp_path / "bert"))
    return tmp_path / "bert"


@pytest.fixture
def roberta(tmp_path: Path) -> Path:
    """A byte-level tokenizer of RoBERTa's class with few merges: pieces hold the space before them, offsets do not."""
    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    texts = [f" {' '.join(SENTENCE)}"] * 3
    trained.train_from_iterator(texts, vocab_size=285, min_frequency=1, special_tokens=special, show_progress=False)
    model = json.loads(trained._tokenizer.to_str())["model"]
    RobertaTokenizer(vocab=model["vocab"], merges=[tuple(merge) for merge in model["merges"]]).save_pretrained(
        tmp_path / "roberta"
    )
    return tmp_path / "roberta"


def seven_sentences() -> EventDocument:
    """Triggers of one word, of two or three (`65_66`), and of two that are not adjacent (`4_6`)."""
    tokens = [(0,), (3,), (4, 6), (37, 39), (61, 62, 63), (65, 66), (69,)]
    row = event_row("d", "g", [SENTENCE] * 7, [Mention(f"m{n}", places) for n, places in enumerate(tokens)], [], "x")
    assert {"65_66", "4_6"} < set(row["triggers"])
    return event_document({**row, "split": "train"})


def test_words_are_pieces_of_running_text(roberta: Path) -> None:
    """Trap 8.10: a word given by itself has the ids that it has behind a space, and a trigger those of its words."""
    one, plain, reader = seven_sentences(), load_tokenizer(roberta), open_word_tokenizer(roberta)
    (pieces,) = word_pieces(reader, [one])
    running = plain(" " + " ".join(one.tokens), add_special_tokens=False)["input_ids"]
    assert list(chain(*pieces)) == running and {len(word) for word in pieces} > {1, 2}
    for word, ids in zip(one.tokens, pieces, strict=True):
        assert ids == plain(f" {word}", add_special_tokens=False)["input_ids"] != plain(word)["input_ids"][1:-1]
    for max_length in (16, 40, 512):
        (found,) = encode_documents(reader, [one], max_length)
        assert all((window[0], window[-1]) == (0, 2) and len(window) <= max_length for window in found.windows)
        for mention in range(len(one)):
            here = found.mention_of == mention
            ids = [found.windows[w][p] for w, p in zip(found.window_of[here], found.place_of[here], strict=True)]
            assert reader.decode(ids) == f" {one.trigger(mention)}"
    # Of a word that is longer than a window its beginning is read, and nothing behind it.
    (found,) = encode_documents(reader, [one], 4)
    assert any(len(pieces[word]) > 2 for trigger in one.triggers for word in trigger)
    assert all(0 < p < len(found.windows[w]) - 1 for w, p in zip(found.window_of, found.place_of, strict=True))


@pytest.mark.parametrize("special", [False, True])
def test_a_cut_text_has_its_whole_trigger(special: bool, roberta: Path) -> None:
    """Markers as text, as an encoder that was not tuned reads them, and as tokens."""
    one, reader = seven_sentences(), load_tokenizer(roberta)
    if special:
        reader.add_special_tokens({"extra_special_tokens": list(MARKERS)})
    texts = mention_texts(one, "wrapped")
    whole = reader(texts, add_special_tokens=False)["input_ids"]
    (uncut,) = mention_pieces(reader, [one], EventSelection(), 200)
    assert uncut == whole
    for text, ids, mention in zip(texts, whole, range(len(one)), strict=True):
        first, last = text.index("<m>"), text.rindex("</m>") + len("</m>")
        marked = len(reader(text[first:last], add_special_tokens=False)["input_ids"])
        for room in range(marked, len(ids)):
            cut = mention_pieces(reader, [one], EventSelection(), room)[0][mention]
            assert len(cut) == room and reader.decode(cut) in text and text[first:last] in reader.decode(cut)
        beginning = mention_pieces(reader, [one], EventSelection(), marked - 1)[0][mention]
        assert reader.decode(beginning).startswith("<m>"), "of a trigger that is too long, its beginning"


def test_an_encoder_as_it_was_reads_markers_as_text(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New tokens would have vectors that were never trained; and either pooling is what its name says."""
    examples = write_documents(tmp_path / "events.parquet", {"train": 1, "validation": 1, "test": 1})
    documents, reader = load_events(examples)[0], load_tokenizer(bert)
    encoder = load_model(bert).eval()
    given: list[list[list[int]]] = []

    def seen(model: Any, ids: Any, *rest: Any, **more: Any) -> np.ndarray:
        assert len(model.get_input_embeddings().weight) == len(encoder.get_input_embeddings().weight)
        given.append([ids.flat[start:end].tolist() for start, end in pairwise(ids.offsets)])
        return embed(model, ids, *rest, **more)

    monkeypatch.setattr(rankings, "embed", seen)
    found = {}
    for pooling in ("first", "mean"):
        settings = Retrieval.model_validate({"events": {}, "pooling": pooling, "ks": [1], "max_length": 32})
        out = tmp_path / pooling
        made = {"out": out, "metrics": tmp_path / "m.tsv", "counts": tmp_path / "counts.parquet"}
        rank_partners(examples=examples, **made, settings=settings, model=bert)
        texts = [text for one in documents for text in mention_texts(one, "wrapped")]
        assert given[-1] == [reader(text)["input_ids"] for text in texts]
        assert reader.convert_ids_to_tokens(given[-1][0]) == ["the", *["<unk>"] * 3, "good", *["<unk>"] * 3, "."]
        found[pooling] = read_candidates(out / "seed-0.parquet", documents)
        with torch.inference_mode():
            states = [encoder(input_ids=torch.tensor([row])).last_hidden_state[0] for row in given[-1]]
        vectors = torch.stack([state[0] if pooling == "first" else state.mean(0) for state in states]).numpy()
        for one, own in zip(documents, np.split(vectors, np.cumsum([len(one) for one in documents])), strict=False):
            scores = np.where(np.eye(len(one), dtype=bool), -np.inf, own @ own.T)
            np.testing.assert_allclose(found[pooling][one.name].scores, scores, rtol=1e-4, atol=1e-4)
    assert any((found["first"][one.name].ranked != found["mean"][one.name].ranked).any() for one in documents)


def encoded_rows(encoder: Any) -> list[int]:
    """Grows by the rows of each forward pass."""
    rows: list[int] = []
    encoder.register_forward_pre_hook(lambda _, __, given: rows.append(len(given["input_ids"])), with_kwargs=True)
    return rows


@pytest.mark.parametrize("batch_size", [1, 8])
def test_a_document_is_encoded_once_whatever_the_number_of_its_pairs(
    batch_size: int, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discriminative, "_PAIRS_AT_ONCE", 4)
    engine = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-2))
    base = {"events": {}, "kind": "discriminative", "labels": ["CAUSE", "ENTAILS"], "engine": engine, "epochs": 1}
    documents = [document(name, size=size) for name, size in (("a", 7), ("b", 5), ("c", 9))]
    windows = [len(one.windows) for one in encode_documents(open_word_tokenizer(bert), documents, 16)]
    ranked, pairs = rank_at_random(documents, 0), []
    for k in (1, 100):
        settings = PairClassification.model_validate({**base, "k": k, "max_length": 16})
        classifier = open_classifier(bert, settings)
        asked = [inference_pairs(one, ranked[one.name], settings) for one in documents]
        rows = encoded_rows(classifier.model.encoder)
        predict_labels(classifier, documents, asked, device="cpu", batch_size=batch_size)
        assert sum(rows) == sum(windows) > len(documents)
        pairs.append(sum(len(found.labels) for found in asked))
    assert pairs[1] == 21 + 10 + 36 > 2 * pairs[0]


def test_a_mention_is_encoded_once(bert: Path) -> None:
    """Not once for each partner."""
    documents = [document(name, size=size) for name, size in (("a", 7), ("b", 1), ("c", 9))]
    encoder, reader = load_model(bert), load_tokenizer(bert)
    add_tokens(reader, encoder, MARKERS, 0)
    rows = encoded_rows(encoder)
    settings = Retrieval.model_validate({"events": {}, "ks": [1, 5], "max_length": 16})
    vectors = mention_vectors(documents, settings, encoder, reader, 4)
    assert sum(rows) == 7 + 1 + 9 and [len(one) for one in vectors] == [7, 1, 9]
