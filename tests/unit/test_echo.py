"""Echo (Springer et al. 2024): a text that is read twice, of which the second copy is pooled."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from reprlab.data.schema import write_rows
from reprlab.models.build import architecture_classes
from reprlab.models.pooling import pool
from reprlab.planning.encoder_jobs import check_positions
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.encoder import build_encoder, embed, load_encoder, save_encoder
from reprlab.sentences.export import needs_our_module
from reprlab.sentences.settings import EncoderSettings, TextForm, TripleTexts
from reprlab.sentences.texts import EncodedTexts, encode_texts
from reprlab.sentences.triples import open_triples, write_triples
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

pytestmark = pytest.mark.usefixtures("one_thread")
WORDS = ["<pad>", "<s>", "<unk>", "user:", "again:", "end", "task;", *"abcdefgh"]
TEXTS = ["a b c d e f", "g", "", "c a", "a b c d e f g h a b c"]
ROUND = {"before": "user: ", "after": " end", "max_length": 8}
ECHO = {**ROUND, "echo": " again: "}


@pytest.fixture(scope="module")
def reader():
    words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Split(Regex(r"\s+"), "removed")
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", bos_token="<s>", unk_token="<unk>")


def words(row):
    return [WORDS[index] for index in row]


def rows(texts):
    offsets = texts.ids.offsets
    return [words(texts.ids.flat[start:end]) for start, end in itertools.pairwise(offsets)]


def decoder(name="llama", layers=3, **own):
    torch.manual_seed(3)
    config_class, model_class = architecture_classes(name)
    shared = {"vocab_size": 32, "hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": layers}
    sizes = {"opt": {"ffn_dim": 24, "word_embed_proj_dim": 16}, "llama": {"intermediate_size": 24}}
    model = model_class(config_class(**shared, **sizes[name], max_position_embeddings=64, **own)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.3)
    return model


@pytest.mark.parametrize("ask", ["", "task; "])
def test_the_text_stands_twice_with_the_same_tokens_and_its_second_copy_is_pooled(reader, ask):
    plain, twice = (encode_texts(reader, TEXTS, TextForm(**form), ask) for form in (ROUND, ECHO))
    head = ["user:", *ask.split()]
    for text, once, both in zip(TEXTS, rows(plain), rows(twice), strict=True):
        own = text.split()[:8]
        assert once == [*head, *own, "end"] and both == [*head, *own, "again:", *own, "end"]
    around = [len(head) + 1, len(head) + 2]
    counts = [of.ids.lengths - more for of, more in zip((plain, twice), around, strict=True)]
    assert (counts[1] == 2 * counts[0]).all(), "tokens of the text double exactly, cut ones too"
    batch = twice.batch(np.arange(len(TEXTS)))
    masked = zip(TEXTS, batch["input_ids"], batch["text_mask"], batch["attention_mask"], strict=True)
    for text, ids, mask, seen in masked:
        own = text.split()[:8]
        assert words(ids[mask.bool()]) == own
        # The second copy: what is pooled is followed by the end alone, and has a whole copy before it.
        places = mask.nonzero().ravel().tolist()
        assert not own or places == list(range(len(ids) - 1 - len(own), len(ids) - 1))
        assert words(ids[seen.bool()])[: len(head) + len(own) + 1] == [*head, *own, "again:"]


def test_one_copy_is_the_plain_form_bit_for_bit(reader):
    """At zero strength it is the paper's: no second copy, and the end of the turn is pooled."""
    plain, off = (encode_texts(reader, TEXTS, TextForm(**ROUND, **own), "task; ") for own in ({}, {"echo": None}))
    encoder = build_encoder(decoder(), EncoderSettings(method="none", pooling="weighted_mean"), 0)
    assert (plain.ids.flat == off.ids.flat).all() and off.behind == 0
    assert embed(encoder, plain, batch_size=3).tobytes() == embed(encoder, off, batch_size=3).tobytes()
    assert TextForm(**ROUND).longest == 8 and TextForm(**ECHO).longest == 16
    nothing = encode_texts(reader, ["a b"], TextForm(echo="", begin=False))
    assert rows(nothing) == [["a", "b", "a", "b"]] and nothing.starts.tolist() == [2]


@pytest.mark.parametrize("pooling", ["mean", "last", "weighted_mean"])
def test_without_order_both_copies_have_the_same_states_bit_for_bit(reader, pooling):
    """A bidirectional model without positions cannot tell them apart, and a causal one can."""
    model = decoder("opt")
    with torch.no_grad():
        model.model.decoder.embed_positions.weight.zero_()
    second = encode_texts(reader, ["a b c d", "f a c", "h"], TextForm(**{**ECHO, "after": ""}))
    first = EncodedTexts(second.ids, np.ones(3, dtype=np.int64), second.pad, behind=0)
    for bidirectional in (True, False):
        settings = EncoderSettings(method="none", pooling=pooling, bidirectional=bidirectional)
        encoder = build_encoder(model, settings, 0)
        found = []
        for texts, cut in ((first, True), (second, False)):
            for row, count in enumerate((4, 3, 1)):
                batch = texts.chosen(np.array([row])).batch(np.array([0]))
                if cut:
                    batch["text_mask"][:, 1 + count :] = 0
                with torch.no_grad():
                    found.append(encoder(batch)[0])
        equal = [torch.equal(one, other) for one, other in zip(found[:3], found[3:], strict=True)]
        assert all(equal) if bidirectional else not any(equal)


def test_a_token_of_the_second_copy_knows_the_whole_text(reader):
    """Under causal attention the first token of a text is the same whatever follows; that of an echo is not."""
    encoder = build_encoder(decoder(), EncoderSettings(method="none", pooling="first"), 0)
    for form, same in ((ROUND, True), (ECHO, False)):
        vectors = embed(encoder, encode_texts(reader, ["a b c", "a b d"], TextForm(**form)), batch_size=1)
        assert (vectors[0] == vectors[1]).all() == same


@pytest.mark.parametrize("pooling", ["mean", "last", "weighted_mean"])
def test_padding_of_either_side_pools_the_second_copy(reader, pooling):
    texts = encode_texts(reader, TEXTS[:4], TextForm(**ECHO))
    left = texts.batch(np.arange(4))
    right = {
        name: torch.stack([row.roll(int(seen.sum()) - len(row)) for row, seen in zip(part, left["attention_mask"],
                                                                                    strict=True)])
        for name, part in left.items()
    }  # fmt: skip
    assert (right["attention_mask"][:, 0] == 1).all() and (left["attention_mask"][:, -1] == 1).all()
    settings = EncoderSettings(method="none", pooling=pooling)
    with torch.no_grad():
        one, other = (build_encoder(decoder(), settings, 0).eval()(batch) for batch in (left, right))
    torch.testing.assert_close(one, other, atol=2e-5, rtol=1e-4)
    for batch in (left, right):
        ids = batch["input_ids"].float()[..., None]
        own = [np.mean([WORDS.index(word) for word in text.split()]) for text in TEXTS[:2]]
        assert pool(ids, batch["attention_mask"], "mean", batch["text_mask"])[:2, 0].tolist() == pytest.approx(own)


def test_an_empty_text_stands_for_the_last_token(reader):
    texts = encode_texts(reader, [""], TextForm(**ECHO))
    batch = texts.batch(np.array([0]))
    assert words(batch["input_ids"][0]) == ["user:", "again:", "end"] and not batch["text_mask"].any()
    assert rows(encode_texts(reader, [""], TextForm(echo="", begin=False))) == [["<pad>"]]


def test_triples_keep_what_is_not_pooled(reader, tmp_path):
    path = tmp_path / "set/examples.parquet"
    path.parent.mkdir()
    written = [
        {"id": f"{n}", "group": f"{n}", "split": "train", "context": "", "question": f"a {text}",
         "choices": [f"b {text}", f"c {text}"], "answer": 0}
        for n, text in enumerate(("d e", "f", "a b c d e f g h"))
    ]  # fmt: skip
    write_rows(path, written, "choice", {"name": "set", "title": "set"})
    for form, behind in ((ROUND, 0), (ECHO, 1)):
        settings = TripleTexts(form=TextForm(**form), instructions={"set": ["task", "a"]})
        write_triples(tmp_path, [path], reader, settings)
        texts = open_triples(tmp_path).texts
        chosen = texts.chosen(np.array([0, 5]))
        assert texts.behind == chosen.behind == EncodedTexts.joined([texts, chosen]).behind == behind
        batch = open_triples(tmp_path).batch(np.array([0, 2]))
        pooled = [words(ids[mask.bool()]) for ids, mask in zip(batch["input_ids"], batch["text_mask"], strict=True)]
        tail = [] if behind else ["end"]
        assert pooled[0] == ["a", "d", "e", *tail] and pooled[-1] == [*"cabcdefg", *tail]


def test_what_an_echo_does_not_go_with_is_refused(reader):
    with pytest.raises(ValidationError, match="a whole text has nothing before or behind it"):
        TextForm(whole=True, echo="")
    assert needs_our_module(EncoderSettings(method="none", pooling="last", form=TextForm(**ECHO)), reader)
    assert not needs_our_module(EncoderSettings(method="none", pooling="last", form=TextForm(**ROUND)), reader)


def test_two_copies_have_room_in_learned_positions_or_are_refused():
    config = SimpleNamespace(models={"small": SimpleNamespace(learned_positions=20)})

    def settings(length, **own):
        return EncoderSettings(method="none", pooling="mean", form=TextForm(max_length=length, **own))

    assert check_positions(config, "small", settings(10, echo=""), "x")
    assert check_positions(config, "small", settings(20), "x")
    with pytest.raises(ReprlabError, match=r"x \(11\), twice: small has 20 learned positions; set it to 10 at most"):
        check_positions(config, "small", settings(11, echo=""), "x")


def ends(model, **own):
    return build_encoder(model, EncoderSettings(method="none", pooling="mean", both_ends=True, **own), 0)


def test_both_ends_are_the_mean_of_the_first_layer_and_the_last(reader, tmp_path):
    """Of one layer, bit for bit, the plain encoder; of more, the mean of the models that are cut there."""
    texts = encode_texts(reader, TEXTS[:4], TextForm(**ROUND))
    plain = EncoderSettings(method="none", pooling="mean")
    first = embed(build_encoder(decoder(), plain.model_copy(update={"layers": 1}), 0), texts, batch_size=4)
    assert embed(ends(decoder(), layers=1), texts, batch_size=4).tobytes() == first.tobytes()
    for layers in (2, 3):
        last = embed(build_encoder(decoder(), plain.model_copy(update={"layers": layers}), 0), texts, batch_size=4)
        found = embed(ends(decoder(), layers=layers), texts, batch_size=4)
        np.testing.assert_allclose(found, (first + last) / 2, atol=1e-5)
        assert abs(found - last).max() > 0.1
    low = {"rank": 2, "alpha": 4, "targets": ["q_proj"]}
    settings = EncoderSettings.model_validate({"method": "lora", "pooling": "mean", "layers": 2, "adapter": low})
    save_encoder(build_encoder(decoder(), settings, 0), settings, tmp_path)
    used = embed(load_encoder(decoder(), tmp_path, both_ends=True), texts, batch_size=4)
    assert used.tobytes() == embed(ends(decoder(), layers=2), texts, batch_size=4).tobytes(), "fresh adapters are 0"
    trained_as = embed(load_encoder(decoder(), tmp_path), texts, batch_size=4)
    assert abs(used - trained_as).max() > 0.1
    with pytest.raises(ValidationError, match="both_ends"):
        EncoderSettings(method="prefix", pooling="mean", vectors=2, both_ends=True)
