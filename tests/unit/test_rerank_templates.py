"""Sequences of pairs, id by id, with tokenizers as published models have: byte-level BPE and WordPiece."""

import pytest
from reprlab.retrieval.rerank_inputs import pair_inputs
from reprlab.text.tokenizer_folder import start_ids
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

QUERY, DOCUMENT = "who is it", "the cat sat there"
TEXT = f"document: {DOCUMENT}; query: {QUERY};"


def byte_level(form: str) -> PreTrainedTokenizerFast:
    """A BPE of the bytes and words of TEXT. As OPT's it has one token, 2, that begins and ends texts.

    Args:
        form: of a text with special tokens; `</s> $A` as OPT.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<pad>", "<unk>", "</s>"]
    tokenizer.train_from_iterator(
        [TEXT] * 9, trainers.BpeTrainer(initial_alphabet=alphabet, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(single=form, special_tokens=[("</s>", 2)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="</s>", eos_token="</s>", pad_token="<pad>")


def word_piece() -> PreTrainedTokenizerFast:
    """As BERT's."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "is", "it", "the", "cat", "sat", "there", "query", "document"]
    words += [":", ";"]
    tokenizer = Tokenizer(models.WordPiece({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]"
    )


def inputs_of(tokenizer, template, document=DOCUMENT, max_length=64, max_query=8):
    return pair_inputs(tokenizer, {"q": QUERY}, {"d": document}, template, max_length=max_length, max_query=max_query)


def test_a_decoder_reads_document_query_and_end():
    tokenizer = byte_level("</s> $A")
    ids = inputs_of(tokenizer, "document_first").ids("q", "d")
    pieces = "</s> document : Ġthe Ġcat Ġsat Ġthere ; Ġquery : Ġwho Ġis Ġit ; </s>"
    assert " ".join(tokenizer.convert_ids_to_tokens(ids)) == pieces
    assert ids[0] == ids[-1] == tokenizer.eos_token_id == 2 and ids.count(2) == 2
    # The end is an id, never the text "[EOS]" of the paper's template.
    assert tokenizer.decode(ids) == f"</s>{TEXT}</s>" and "[EOS]" not in tokenizer.decode(ids)
    assert ids == [*tokenizer(TEXT)["input_ids"], 2]


def test_an_encoder_reads_query_and_document_between_its_own_tokens():
    tokenizer = word_piece()
    ids = inputs_of(tokenizer, "query_first").ids("q", "d")
    #      [CLS] query : who is it ; document : the cat sat there [SEP]
    assert ids == [2, 11, 13, 4, 5, 6, 14, 12, 13, 7, 8, 9, 10, 3]
    assert ids == tokenizer(f"query: {QUERY}; document: {DOCUMENT}")["input_ids"]


@pytest.mark.parametrize(("form", "start"), [("</s> $A", [2]), ("</s> $A </s>", [2]), ("$A </s>", []), ("$A", [])])
def test_the_start_is_what_stands_before_a_text(form, start):
    """Also where the token that begins texts is the one that ends them."""
    tokenizer = byte_level(form)
    assert start_ids(tokenizer) == start
    ids = inputs_of(tokenizer, "document_first").ids("q", "d")
    assert ids.count(2) == len(start) + 1 and ids[-1] == 2


def test_an_encoder_has_no_start_of_decoders():
    assert start_ids(word_piece()) == []


@pytest.mark.parametrize("max_length", [24, 512])
@pytest.mark.parametrize("template", ["document_first", "query_first"])
def test_a_long_document_takes_neither_query_nor_end(template, max_length):
    tokenizer = byte_level("</s> $A") if template == "document_first" else word_piece()
    inputs = inputs_of(tokenizer, template, document="cat " * 5000, max_length=max_length)
    ids = inputs.ids("q", "d")
    assert len(inputs.documents["d"]) >= 5000 and len(ids) == max_length
    short = inputs_of(tokenizer, template, document="cat").ids("q", "d")
    # Where the one "cat" of the short one stands, there are as many as fit.
    place = 3 if template == "document_first" else len(short) - 2
    assert ids == [*short[:place], *[short[place]] * (max_length - len(short) + 1), *short[place + 1 :]]
    assert tokenizer.decode(short[place]).strip() == "cat"
    assert ids[-1] == (tokenizer.eos_token_id if template == "document_first" else tokenizer.sep_token_id)
