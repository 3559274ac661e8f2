"""Texts of mentions as token ids: special tokens at the ends, pairs as one text, and order and batches of documents."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from finetune_fixtures import WORDS, make_bert, make_tokenizer
from reprlab.data.event_rows import Mention, event_row
from reprlab.events.documents import EventDocument, event_document
from reprlab.events.encodings import MARKERS, mention_texts, pair_text
from reprlab.events.generative import pair_inputs
from reprlab.events.mention_inputs import closed_mentions
from reprlab.events.pairs import LabelledPairs
from reprlab.events.rankings import mention_vectors, rank_mentions
from reprlab.events.settings import EventSelection, Retrieval
from reprlab.models.build import load_model
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.training.finetuning_encoding import Ragged
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

SENTENCES = ["He was hit .", "Blow by blow , it broke off", "and the man fell down", "ran"]
TRIGGERS = [(2,), (4,), (9, 10), (14, 15), (16,)]


def sample() -> EventDocument:
    """Triggers at the end, at the beginning, of two words, and a sentence that is nothing else."""
    mentions = [Mention(f"m{n}", tokens, "", 0 if n in (0, 1) else -1) for n, tokens in enumerate(TRIGGERS)]
    row = event_row("d", "g", [sentence.split() for sentence in SENTENCES], mentions, [], "x")
    return event_document({**row, "split": "train"})


def metaspace_tokenizer(single: list[str]) -> Any:
    """Words behind `▁`, as T5's and the project's own; `single` are special tokens around a text `$A`."""
    words = sorted({word for sentence in SENTENCES for word in sentence.split()})
    words += ["hit,", "Classify:", "Mention", "1:", "2:"]
    specials = ["<pad>", "<unk>", *(name for name in single if name != "$A")]
    numbers = {word: place for place, word in enumerate([*specials, "▁", *(f"▁{word}" for word in words)])}
    backend = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    backend.post_processor = processors.TemplateProcessing(
        single=single, special_tokens=[(name, numbers[name]) for name in single if name != "$A"]
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>")
    tokenizer.add_special_tokens({"extra_special_tokens": list(MARKERS)}, replace_extra_special_tokens=False)
    return tokenizer


def rows(found: Ragged) -> list[list[int]]:
    return [found.flat[first:end].tolist() for first, end in zip(found.offsets, found.offsets[1:], strict=False)]


@pytest.mark.parametrize("single", [["<s>", "$A", "</s>"], ["$A", "</s>"]], ids=["both ends", "the last"])
def test_a_mention_stands_between_the_special_tokens_of_its_tokenizer(single: list[str]) -> None:
    tokenizer, document = metaspace_tokenizer(single), sample()
    found = rows(closed_mentions(tokenizer, [document, document], EventSelection(), 64))
    texts = mention_texts(document, "wrapped")
    assert found == 2 * [tokenizer(text)["input_ids"] for text in texts]
    first, last = (tokenizer.convert_tokens_to_ids(name) for name in (single[0], single[-1]))
    cut = rows(closed_mentions(tokenizer, [document], EventSelection(), 6))
    assert all(ids[-1] == last and len(ids) <= 6 for ids in cut) and max(map(len, cut)) == 6
    if single[0] != "$A":
        assert {ids[0] for ids in cut} == {first} and all(first not in ids[1:] for ids in cut)


@pytest.mark.parametrize("chains", [False, True])
@pytest.mark.parametrize("encoding", ["wrapped", "trigger"])
def test_a_pair_is_the_same_whether_its_mentions_are_tokenised_apart_or_its_text_as_a_whole(
    encoding: Any, chains: bool
) -> None:
    """With T5's kind of tokenizer: a word is the same piece at the beginning of a text and behind a space."""
    tokenizer, document = metaspace_tokenizer(["$A", "</s>"]), sample()
    every = document.pairs(directed=True)
    pairs = LabelledPairs(every, np.zeros(len(every), dtype=np.int64))
    found = rows(pair_inputs(tokenizer, [document], [pairs], EventSelection(encoding=encoding, chains=chains), 512))
    texts = mention_texts(document, encoding, chains=chains)
    assert found == [tokenizer(pair_text(texts[head], texts[tail]))["input_ids"] for head, tail in every.tolist()]
    assert not any(tokenizer.unk_token_id in ids for ids in found)


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_a_retriever_ranks_alike_in_whatever_order_documents_stand_and_batches_are_cut(
    tmp_path: Path, pooling: Any, batch_size: int
) -> None:
    make_bert(tmp_path, make_tokenizer(tmp_path))
    encoder, tokenizer = load_model(tmp_path), load_tokenizer(tmp_path)
    for weights in encoder.parameters():
        # As drawn, they hardly mix tokens, and the first ones (all alike) have nearly the same vector.
        weights.data *= 20 if weights.dim() > 1 else 1
    documents = [worded(name, size, start) for name, size, start in (("a", 5, 0), ("b", 1, 3), ("c", 7, 8))]
    settings = Retrieval.model_validate({"events": {}, "pooling": pooling, "max_length": 16, "ks": [1]})

    def ranked(documents: list[EventDocument], batch_size: int) -> dict[str, Any]:
        return rank_mentions(documents, mention_vectors(documents, settings, encoder, tokenizer, batch_size))

    there, back = ranked(documents, 64), ranked(documents[::-1], batch_size)
    for one in documents:
        off = ~np.eye(len(one), dtype=bool)
        scores, other = there[one.name].scores[off], back[one.name].scores[off]
        # Padding moves a score in its last digits; those of two pairs are further apart, so that ranks are the same.
        np.testing.assert_allclose(other, scores, rtol=1e-5, atol=1e-5)
        upper = np.sort(there[one.name].scores[np.triu_indices(len(one), 1)])
        assert (np.diff(upper) > 1e-4).all(), "the sample must have no two pairs with nearly the same score"
        assert back[one.name].ranked.tolist() == there[one.name].ranked.tolist()


def worded(name: str, size: int, start: int) -> EventDocument:
    """Mentions in sentences of one to four words that the tokenizer knows, no two alike."""
    words = WORDS[:17]
    sentences = [[words[(start + n * 3 + place) % len(words)] for place in range(1 + n % 4)] for n in range(size)]
    starts = np.cumsum([0, *map(len, sentences)])
    mentions = [Mention(f"m{n}", (int(starts[n]),)) for n in range(size)]
    return event_document({**event_row(name, name, sentences, mentions, [], name), "split": "test"})
