"""Texts are data to every tokenizer and in every stage: what spells a special token acts nowhere, and what a tokenizer
puts around a text, or before its first word, is where that tokenizer has it."""

import ast
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.concepts.blocks import cut_blocks
from reprlab.data.event_rows import Mention, event_row
from reprlab.evaluation.completion_answers import _words
from reprlab.evaluation.examples import ExampleTable
from reprlab.evaluation.generated_texts import _ids as token_ids
from reprlab.events.documents import event_document
from reprlab.events.encodings import CLOSE, MARKERS, OPEN
from reprlab.events.generative import pair_inputs as pairs_of_mentions
from reprlab.events.mention_inputs import closed_mentions
from reprlab.events.pairs import LabelledPairs
from reprlab.events.sentence_graphs import sentence_graphs
from reprlab.events.settings import EventSelection
from reprlab.events.windows import encode_documents
from reprlab.inference.causal_batches import shot_prompts
from reprlab.inference.choice_likelihood import choice_ids
from reprlab.inference.label_scores import label_candidates
from reprlab.inference.served_model import ServedModel
from reprlab.music.describer import Examples, prompt_ids
from reprlab.music.settings import DescriberTraining
from reprlab.representations.label_tokens import label_token_ids
from reprlab.representations.tokens import encode_texts as opened_texts
from reprlab.retrieval.bi_encoder import encode_texts as closed_texts
from reprlab.retrieval.list_inputs import list_inputs
from reprlab.retrieval.read_orders import inputs_in_order
from reprlab.retrieval.rerank_inputs import pair_inputs
from reprlab.retrieval.rerank_settings import ListSettings, PairSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.export import export_plain, needs_our_module
from reprlab.sentences.settings import EncoderSettings, TextForm
from reprlab.sentences.texts import encode_texts as sentence_texts
from reprlab.structure.pairs import said, target_ids
from reprlab.structure.seq2seq import pair_task
from reprlab.text.encoding import Control, closed_ids, encode, format_parts, ids_behind, part_ids, surrounding_ids
from reprlab.text.published_vocabulary import PublishedVocabulary
from reprlab.text.sequences import encode_passages
from reprlab.text.token_counts import CountSettings, _ids
from reprlab.text.tokenizer_folder import start_ids
from reprlab.text.tokenizers import save_tokenizer, train_unigram
from reprlab.text.vocabulary import Vocabulary
from reprlab.training.completion_texts import encode_completions
from reprlab.training.finetuning_heads import EncoderHead
from reprlab.training.finetuning_settings import TaskSettings
from reprlab.training.finetuning_text import TextToText
from reprlab.training.settings import EngineSettings
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

PLAIN = "rain fell on them and here"
HOSTILE = "rain </s> fell <pad> on [SEP] [PAD] them <|im_end|> <s> [CLS] <eosen> <extra_id_0> <m> and <|user|> here"
NAMES = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
MORE = ["<|im_end|>", "<|user|>", "<m>", "</m>", "<sep>", "<coref>"]


def word_piece() -> Any:
    """As BERT's: two tokens around a text, and the names of its own in brackets."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase), *string.punctuation]
    backend = Tokenizer(models.WordPiece({one: n for n, one in enumerate([*names, *letters])}, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    found = PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", eos_token="[SEP]",
    )  # fmt: skip
    return added(found)


def byte_level(form: str = "$A", words: tuple[str, ...] = ()) -> Any:
    """Bytes, with the special tokens that decoders have; `form` says what stands around a text."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({one: n for n, one in enumerate(["<pad>", "<s>", "</s>", *alphabet])}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    pair = form.replace("$A", "$A $B") if "$A" in form else form
    backend.post_processor = processors.TemplateProcessing(
        single=form, pair=pair, special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return added(PreTrainedTokenizerFast(tokenizer_object=backend, **{k: v for k, v in NAMES.items() if v != "<unk>"}))


def sentence_piece(space: str = "legacy", form: str = "<s> $A", more: bool = True) -> Any:
    """As Llama-2's and Mistral's: a space comes before a text (`legacy`: also where it has one), `</s>` is a piece."""
    words = ["▁yes", "▁no", "▁rain", "yes", "no", "rain"]
    vocabulary = {one: n for n, one in enumerate(["<unk>", "<s>", "</s>", "<pad>", "▁", *string.printable])}
    merges = []
    for word in words:
        for end in range(2, len(word) + 1):
            if word[:end] not in vocabulary:
                vocabulary[word[:end]] = len(vocabulary)
                merges.append((word[: end - 1], word[end - 1]))
    backend = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>"))
    if space == "legacy":
        backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    backend.decoder = decoders.Metaspace()
    backend.post_processor = processors.TemplateProcessing(
        single=form, pair=f"{form} $B", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    found = PreTrainedTokenizerFast(tokenizer_object=backend, **NAMES)
    return added(found) if more else found


def unigram() -> tuple[Any, Vocabulary]:
    """The project's own: `</s>` and `<pad>` are among the pieces of the model."""
    vocabulary = Vocabulary(70, sentinels=4, sentences=3)
    text = [*string.ascii_lowercase, *string.punctuation, PLAIN, "the rain fell on the house and the house fell"]
    return train_unigram(text * 4, vocabulary), vocabulary


def added(tokenizer: Any) -> Any:
    tokenizer.add_special_tokens({"extra_special_tokens": MORE}, replace_extra_special_tokens=False)
    return tokenizer


KINDS: dict[str, Callable[[], Any]] = {
    "WordPiece": word_piece,
    "bytes": byte_level,
    "bytes, a start": lambda: byte_level("<s> $A"),
    "bytes, an end": lambda: byte_level("$A </s>"),
    "SentencePiece, as Llama-2's": sentence_piece,
    "SentencePiece, a space before the first": lambda: sentence_piece("first"),
    "Unigram": lambda: unigram()[0],
}


def document(text: str) -> Any:
    words = text.split()
    row = event_row("d", "g", [words], [Mention("a", (0,)), Mention("b", (len(words) - 1,))], [], "x")
    return event_document({**row, "split": "train"})


def head(tokenizer: Any, kind: str, columns: dict[str, list[Any]], **options: Any) -> Any:
    given = TaskSettings(kind=options.pop("task", "classification"), metrics=["accuracy"], input_length=256, **options)
    table = ExampleTable(Path("x"), kind, ("A", "O"), {"id": ["1"], **columns})
    return EncoderHead(given, ("A", "O"), tokenizer, Path("x")).encode(table).inputs.flat.tolist()


def completions(tokenizer: Any, **row: Any) -> list[int]:
    return encode_completions(tokenizer, [{"turns": [], **row}], 512).ids[0]


def ranked(tokenizer: Any, text: str, template: Any) -> list[int]:
    found = pair_inputs(tokenizer, {"q": text}, {"d": text}, template, max_length=512, max_query=128)
    return found.ids("q", "d")


def read_twice(tokenizer: Any, text: str, template: Any) -> list[int]:
    pairs = PairSettings(template=template, max_length=512, max_query=128)
    return inputs_in_order(tokenizer, {"q": text}, {"d": text}, pairs, "twice").ids("q", "d")


def counted(tokenizer: Any, text: str, source: Any) -> list[int]:
    return _ids(tokenizer, [[text]], CountSettings(source=source)).tolist()


def mention_pairs(tokenizer: Any, text: str) -> list[int]:
    pairs = [LabelledPairs(np.array([[0, 1]]), np.zeros(1, np.int64))]
    return pairs_of_mentions(tokenizer, [document(text)], pairs, EventSelection(), 512).flat.tolist()


def served(tokenizer: Any, text: str) -> list[int]:
    model = ServedModel.__new__(ServedModel)
    model.tokenizer = tokenizer
    return model.prompt([{"role": "user", "content": text}])


TRACK = dict.fromkeys(("genre", "type", "lyrics_text"), PLAIN)


def described(tokenizer: Any, text: str) -> list[int]:
    engine = EngineSettings.model_validate({"steps": 1, "batch_size": 1, "optimizer": {"learning_rate": 1.0}})
    asked = DescriberTraining(task="caption", inputs="1", max_length=1024, adapter=None, engine=engine)
    return Examples(tokenizer, [{**TRACK, "caption": text}], np.zeros((1, 2, 3)), asked).targets[0]


def sentences(tokenizer: Any, text: str, instruction: str = "", **form: Any) -> list[int]:
    return sentence_texts(tokenizer, [text], TextForm(**form), instruction).ids.flat.tolist()


# By module that gives a text to a tokenizer: what it makes of a text, as ids.
def listed(tokenizer: Any, text: str) -> list[int]:
    settings = ListSettings(window=2, passage_tokens=512)
    # Toy vocabularies may not have the first letters as tokens of their own, which lists need.
    single = [one for one in string.printable[:62] if len(ids := ids_behind(tokenizer, [one])[0]) == 1
              and ids[0] != tokenizer.unk_token_id]  # fmt: skip
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("reprlab.retrieval.list_inputs._LETTERS", "".join(single))
        inputs = list_inputs(tokenizer, {"q": text}, {"a": text, "b": text}, settings, 512)
    return inputs.ids("q", ["a", "b"])


PLACES: dict[str, list[Callable[[Any, str], list[int]]]] = {
    "concepts.blocks": [
        lambda t, x: [i for _, found in cut_blocks(t, [x], 512) for own in found.ids for i in own.tolist()]
    ],
    "evaluation.completion_answers": [lambda t, x: [i for ids in _words(t, [x]) for i in ids]],
    "evaluation.generated_texts": [lambda t, x: token_ids(t, [x], 512)[0]],
    "events.generative": [mention_pairs],
    "events.mention_inputs": [
        lambda t, x: closed_mentions(t, [document(x)], EventSelection(), 512).flat.tolist(),
        lambda t, x: closed_mentions(t, [document(x)], EventSelection(encoding="trigger"), 512).flat.tolist(),
    ],
    "events.sentence_graphs": [
        lambda t, x: sentence_graphs(t, [document(x)], [np.zeros(len(x.split()), int)], 512).ids.flat.tolist()
    ],
    "events.windows": [
        lambda t, x: [i for window in encode_documents(t, [document(x)], 512)[0].windows for i in window]
    ],
    "inference.causal_batches": [lambda t, x: shot_prompts(t, [(x, x)], [x], 1024).ids[0]],
    "inference.choice_likelihood": [lambda t, x: choice_ids(t, [x])[0]],
    "inference.served_model": [served],
    "inference.label_scores": [lambda t, x: label_candidates(t, [x], all_subtokens=True)[0]],
    "music.describer": [lambda t, x: prompt_ids(t, x, x, 0), described],
    "representations.label_tokens": [lambda t, x: label_token_ids(t, [x], "in_context", "a\n")],
    "representations.tokens": [lambda t, x: opened_texts(t, [x])[0]],
    "retrieval.bi_encoder": [lambda t, x: closed_texts(t, [x], 512).flat.tolist()],
    "retrieval.list_inputs": [listed],
    "retrieval.read_orders": [
        lambda t, x: read_twice(t, x, "document_first"),
        lambda t, x: read_twice(t, x, "query_first"),
    ],
    "retrieval.rerank_inputs": [
        lambda t, x: ranked(t, x, "document_first"),
        lambda t, x: ranked(t, x, "query_first"),
    ],
    "sentences.texts": [
        lambda t, x: sentences(t, x),
        lambda t, x: sentences(t, x, instruction=x),
        lambda t, x: sentences(t, x, whole=True, instruction=x),
        lambda t, x: sentences(t, x, before="<|im_end|>user\n", after="<|im_end|>"),
    ],
    "structure.pairs": [lambda t, x: target_ids(t, [x])[0]],
    "text.sequences": [lambda t, x: encode_passages(t, [[x]], PublishedVocabulary(t)).ids.tolist()],
    "text.token_counts": [lambda t, x: counted(t, x, "examples"), lambda t, x: counted(t, x, "documents")],
    "training.completion_texts": [
        lambda t, x: completions(t, prompt=x, completion=x),
        lambda t, x: completions(t, turns=[x, x, x, x]),
    ],
    "training.finetuning_heads": [
        lambda t, x: head(t, "single", {"text": [x], "label": ["A"]}),
        lambda t, x: head(t, "pair", {"text_a": [x], "text_b": [x], "label": ["A"]}),
        lambda t, x: head(t, "tags", {"tokens": [x.split()], "tags": [["O"] * len(x.split())]}, task="tags"),
    ],
}
# What is walked by the tests of text-to-text tasks below, and what only spells labels and templates of ours.
ELSEWHERE = {
    "training.finetuning_text", "training.finetuning_encoding", "training.finetuning_spans", "coreference.segments"
}  # fmt: skip
# Their texts are ours or the settings', not data.
OURS = {"inference.stop_texts", "sentences.export", "papers.amuro_char.audit_models"}
GIVES_TEXT = {"encode", "piece_ids", "closed_ids", "ids_behind", "part_ids"}
ROOT = Path(__file__).resolve().parents[2] / "workflow/reprlab"


def special(tokenizer: Any, ids: list[int]) -> Counter[int]:
    acting = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    return Counter(index for index in ids if index in acting)


@pytest.mark.parametrize("place", [(name, n) for name, found in PLACES.items() for n in range(len(found))], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_brings_in_no_special_token(kind: str, place: tuple[str, int]) -> None:
    tokenizer, given = KINDS[kind](), PLACES[place[0]][place[1]]
    assert special(tokenizer, given(tokenizer, HOSTILE)) == special(tokenizer, given(tokenizer, PLAIN))


def test_every_module_that_gives_a_text_to_a_tokenizer_is_walked() -> None:
    importing = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imports = isinstance(node, ast.ImportFrom) and node.module == "reprlab.text.encoding"
            if imports and GIVES_TEXT & {alias.name for alias in node.names}:  # type: ignore[union-attr]
                importing.add(".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert importing - OURS <= {*PLACES, *ELSEWHERE}


def test_no_other_module_calls_a_tokenizer() -> None:
    """By what a tokenizer is called here, and by what it alone is asked."""
    names, options = (
        {"tokenizer", "reader", "opened"},
        {"add_special_tokens", "is_split_into_words", "split_special_tokens"},
    )
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        if path == ROOT / "text/encoding.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            of = node.func.value if isinstance(node.func, ast.Attribute) else None
            # `paths.tokenizer(name)` names a folder, `csv.reader` is none of ours, `opened(one)` opens a retriever.
            known = (isinstance(of, ast.Name) and of.id in ("paths", "csv")) or path.name == "train_retriever.py"
            asked = options & {keyword.arg for keyword in node.keywords}
            exported = called == "PreTrainedTokenizerFast" or called == "encode"
            if (
                (called in names and not known)
                or (asked and not exported)
                or called in ("encode_plus", "batch_encode_plus")
            ):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


@pytest.mark.parametrize("kind", KINDS)
def test_ordinary_text_is_read_as_the_tokenizer_reads_it(kind: str) -> None:
    tokenizer = KINDS[kind]()
    texts = [PLAIN, "a", "", "Two  words,\nor more."]
    assert closed_ids(tokenizer, texts) == tokenizer(texts)["input_ids"]
    words = [text.split() for text in texts]
    bare = tokenizer(words, is_split_into_words=True, add_special_tokens=False)["input_ids"]
    assert encode(tokenizer, words, is_split_into_words=True)["input_ids"] == bare
    assert encode(tokenizer, texts, texts, closed=True)["input_ids"] == tokenizer(texts, texts)["input_ids"]
    before, behind = surrounding_ids(tokenizer)
    for length in (4, 9):
        for ids in closed_ids(tokenizer, texts, length):
            assert len(ids) <= length and ids[: len(before)] == before and ids[len(ids) - len(behind) :] == behind


@pytest.mark.parametrize(
    ("tokenizer", "around"),
    [
        (word_piece(), ([2], [3])),
        (byte_level(), ([], [])),
        (byte_level("<s> $A"), ([1], [])),
        (byte_level("$A </s>"), ([], [2])),
        (byte_level("</s> $A"), ([2], [])),
        (byte_level("</s> $A </s>"), ([2], [2])),
        (byte_level("<s> <s> $A </s>"), ([1, 1], [2])),
        (sentence_piece(), ([1], [])),
    ],
)
def test_what_stands_before_a_text_stays_before_it(tokenizer: Any, around: tuple[list[int], list[int]]) -> None:
    assert surrounding_ids(tokenizer) == around
    before, behind = around
    size = len(before)
    for place in ("events.windows", "events.mention_inputs", "events.sentence_graphs", "events.generative",
                  "concepts.blocks", "retrieval.bi_encoder"):  # fmt: skip
        ids = PLACES[place][0](tokenizer, PLAIN)
        assert ids[:size] == before and ids[len(ids) - len(behind) :] == behind, place
        texts = 2 if place in ("events.mention_inputs", "events.sentence_graphs") else 1
        markers = set(tokenizer.convert_tokens_to_ids(list(MARKERS)))
        found = Counter(index for index in special(tokenizer, ids).elements() if index not in markers)
        assert found == Counter(texts * [*before, *behind]), place
    assert opened_texts(tokenizer, [PLAIN])[0] == [*before, *tokenizer(PLAIN, add_special_tokens=False)["input_ids"]]
    assert start_ids(tokenizer) == [index for index in before if index == tokenizer.bos_token_id]


@pytest.mark.parametrize("space", ["legacy", "first"])
def test_what_follows_a_prompt_has_no_space_of_its_own(space: str) -> None:
    tokenizer = sentence_piece(space)

    def joint(prompt: str, text: str, reader: Any = tokenizer) -> list[int]:
        before, whole = reader([prompt, prompt + text], add_special_tokens=False)["input_ids"]
        assert whole[: len(before)] == before
        return whole[len(before) :]

    assert choice_ids(tokenizer, ["yes", "no"]) == [joint("Answer:", " yes"), joint("Answer:", " no")]
    assert tokenizer.convert_ids_to_tokens(choice_ids(tokenizer, ["yes"])[0]) == ["▁yes"]
    both = [tokenizer.convert_tokens_to_ids(["yes", "▁yes"]), tokenizer.convert_tokens_to_ids(["no", "▁no"])]
    assert label_candidates(tokenizer, ["yes", "no"]) == list(map(sorted, both))
    assert _words(tokenizer, ["yes"]) == [[both[0][0]], [both[0][1]]]
    assert label_token_ids(tokenizer, ["yes", "no"], "in_context", "So?\n") == [both[0][0], both[1][0]]
    # A query and a document are one text with their headings.
    found = pair_inputs(tokenizer, {"q": "yes"}, {"d": "rain"}, "document_first", max_length=64, max_query=8).ids(
        "q", "d"
    )
    assert found == [1, *tokenizer("document: rain; query: yes;", add_special_tokens=False)["input_ids"], 2]
    found = pair_inputs(tokenizer, {"q": "yes"}, {"d": "rain"}, "query_first", max_length=64, max_query=8).ids("q", "d")
    assert found == [1, *tokenizer("query: yes; document: rain", add_special_tokens=False)["input_ids"], 2]
    # So are a text and what a form puts around it.
    form = TextForm(before="Say:\n", after=" no")
    assert sentence_texts(tokenizer, ["rain"], form).ids.flat.tolist() == tokenizer("Say:\nrain no")["input_ids"]
    assert needs_our_module(EncoderSettings(method="none", pooling="last", form=form), tokenizer)
    # And the turns of a conversation, whose names are text to most tokenizers.
    plain = sentence_piece(space, more=False)
    asked, end = "<|user|>\nyes\n<|assistant|>\n", plain.eos_token_id
    one = [1, *plain(f"{asked}no", add_special_tokens=False)["input_ids"], end]
    assert completions(plain, turns=["yes", "no"]) == [*one, *ids_behind(plain, ["\n"], "a")[0]]
    two = [*ids_behind(plain, ["\n"], "a")[0], *joint("\n", f"{asked}rain", plain), end]
    assert completions(plain, turns=["yes", "no", "yes", "rain"])[: len(one) + len(two)] == [*one, *two]


def test_a_text_that_is_joined_with_its_prompt_has_the_ids_that_it_has_alone_or_is_refused() -> None:
    backend = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2, "c": 3}, [("a", "b")]))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    assert ids_behind(tokenizer, ["c", "b", "cb"], "a") == [[3], [1], [3, 1]]
    with pytest.raises(ReprlabError, match="joins the end of the prompt with the label 'b'; set label_ids: bare"):
        ids_behind(tokenizer, ["c", "b"], "a", remedy="set label_ids: bare")


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from([*HOSTILE.split(), " ", "é", "\n", "yes"]), max_size=12).map(" ".join))
def test_bytes_of_any_text_come_back_as_they_were(text: str) -> None:
    tokenizer = byte_level()
    ((ids),) = encode(tokenizer, [text])["input_ids"] if text else [[]]
    assert tokenizer.decode(ids) == text
    assert ids_behind(tokenizer, [f" {text}"]) == [encode(tokenizer, [f" {text}"])["input_ids"][0]]


def test_a_part_is_a_special_token_where_the_tokenizer_has_one_and_it_is_meant() -> None:
    tokenizer = byte_level()
    user, text = tokenizer.convert_tokens_to_ids("<|user|>"), "<|user|> says"
    assert part_ids(tokenizer, [[Control("<|user|>"), text]])[0].count(user) == 1
    assert (
        part_ids(tokenizer, [[text, Control("<|none|>"), text]])
        == encode(tokenizer, [f"{text}<|none|>{text}"])["input_ids"]
    )
    assert part_ids(tokenizer, [[], [""]]) == [[], []]
    parts = format_parts(tokenizer, "<|user|>\nask <|im_end|>")
    assert parts == ["", "<|user|>", "\nask ", "<|im_end|>", ""] and [type(one) for one in parts[:2]] == [str, Control]
    assert (
        part_ids(tokenizer, [parts])[0] == tokenizer("<|user|>\nask <|im_end|>", add_special_tokens=False)["input_ids"]
    )


@pytest.mark.parametrize("room", range(12, 60, 7))
def test_a_marker_in_a_documents_words_does_not_move_its_trigger(room: int) -> None:
    tokenizer = byte_level()
    opens, closes = tokenizer.convert_tokens_to_ids([OPEN, CLOSE])
    row = event_row(
        "d", "g", [[*["ab", "<m>", "cd"], "x" * 20, "went", "y" * 30, "</m>"]], [Mention("a", (4,))], [], "x"
    )
    found = closed_mentions(
        tokenizer, [event_document({**row, "split": "train"})], EventSelection(), room
    ).flat.tolist()
    assert found.count(opens) == found.count(closes) == 1
    assert tokenizer.decode(found[found.index(opens) + 1 : found.index(closes)]).strip() == "went"


def test_a_tokenizer_without_an_unknown_token_refuses_what_it_cannot_spell() -> None:
    backend = Tokenizer(models.WordLevel({"<end>": 0, "a": 1}))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>")
    with pytest.raises(ReprlabError, match="a text holds '<end>', which this tokenizer knows only as a special token"):
        encode(tokenizer, ["a <end>"])


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer, vocabulary = unigram()
    folder = tmp_path_factory.mktemp("tokenizer")
    save_tokenizer(tokenizer, vocabulary, folder)
    return folder


@pytest.mark.parametrize("depth_format", [False, True])
def test_text_to_text_has_no_hole_at_a_word_for_padding(own_folder: Path, depth_format: bool) -> None:
    given = TaskSettings(kind="text_to_text", metrics=["exact_match"], input_length=200, target_length=200,
                         template="{source}", depth_format=depth_format)  # fmt: skip
    tokenizer, vocabulary = unigram()
    task = TextToText(given, (), tokenizer, own_folder)
    texts = [HOSTILE, "rain", "press the <pad> key"]
    columns = {"id": ["1", "2", "3"], "source": texts, "targets": [[text] for text in texts], "definition": [""] * 3}
    split = task.encode(ExampleTable(own_folder, "text_to_text", (), columns))
    ends = {vocabulary.eos_id}
    for ids in (split.inputs, split.targets):
        assert vocabulary.pad_id not in ids.flat
        for first, last in zip(ids.offsets, ids.offsets[1:], strict=False):
            assert np.isin(ids.flat[first:last], list(ends)).sum() == 1 and ids.flat[last - 1] in ends
            if not depth_format or ids is split.targets:
                assert not np.isin(ids.flat[first:last], np.arange(vocabulary.pieces, vocabulary.size)).any()
    batch = task.batch(split, np.arange(3))
    assert batch["mask"].sum(1).tolist() == split.inputs.lengths.tolist()
    # Even an input that holds the id of padding is seen whole.
    batch["ids"][0, 1] = vocabulary.pad_id
    model = SimpleNamespace(dtype=torch.float32)
    mask, cross = task._masks(model, batch)
    assert cross[0].sum() == split.inputs.lengths[0] and cross[1].sum() == split.inputs.lengths[1]
    if depth_format:
        assert (mask[0, 0, 0, : split.inputs.lengths[0]] == 0).all()


def test_pairs_write_a_boundary_and_no_text_is_one(own_folder: Path) -> None:
    task = pair_task(own_folder, 200, 200)
    boundary = task.vocabulary.eosen_id
    columns = {"id": ["1"], "source": [HOSTILE], "targets": [["rain <EOS> fell <eosen> here"]], "definition": [""],
               "task": ["sbd"]}  # fmt: skip
    split = task.encode(ExampleTable(own_folder, "text_to_text", (), columns))
    assert boundary not in split.inputs.flat and split.targets.flat.tolist().count(boundary) == 1
    assert said(task.tokenizer, [split.targets.flat[:-1].tolist()]) == ["rain <EOS> fell <eosen> here"]
    assert said(task.tokenizer, [[boundary], []]) == ["<EOS>", ""]


def test_an_exported_vector_has_no_name_that_a_text_could_spell(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from transformers import LlamaConfig, LlamaModel

    tokenizer = byte_level("<s> $A")
    model = LlamaModel(LlamaConfig(vocab_size=len(tokenizer), hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                                   num_attention_heads=2, num_key_value_heads=2))  # fmt: skip
    given = EncoderSettings(method="prompt", pooling="last", vectors=2)
    export_plain(SimpleNamespace(prompt=torch.ones(2, 8)), model, tokenizer, given, tmp_path)
    exported = SentenceTransformer(str(tmp_path), device="cpu").tokenizer
    vectors = [len(tokenizer), len(tokenizer) + 1]
    for text in ("<vector_0> </s> <s> <pad>", "None rain"):
        ids = exported(text)["input_ids"]
        assert ids == [1, *encode(tokenizer, [text])["input_ids"][0], *vectors]
