"""Tokenizers of the published kinds and sizes: a few hundred tokens are learnt, the others are never met in a text."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from tests.published_hub.texts import WHOLE, page

_LEARNT = 600
_SENTINELS = [f"<extra_id_{number}>" for number in range(100)]
_UNUSED = "[unused{}]"
_NEVER = "\u0120never{}"
_LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
    r"\s+(?!\S)|\s+"
)


# Texts are taken as they are, line ends and further spaces too.
_LLAMA = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False, "split_digits": True}


class TokenizerLayout(BaseModel):
    """The tokenizer files of a repository."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    """wordpiece, byte_level, neox, llama_3, unigram or sentencepiece_bpe."""
    size: int
    """Tokens of the vocabulary file, without those added to it."""
    files: list[str]
    """The published files of the tokenizer."""
    fixed: dict[str, int] = {}
    """Special tokens within the vocabulary, at their published ids."""
    added: dict[str, int] = {}
    """Tokens behind the vocabulary, at their published ids."""
    spaces: int | None = None
    """Id of the first of the added tokens of 24 to 2 spaces, as GPT-NeoX has them."""
    cased: bool = False
    """wordpiece: whether letters keep their case."""
    config: dict[str, Any] = {}
    """tokenizer_config.json, where it is published."""
    special: dict[str, Any] = {}
    """special_tokens_map.json, where it is published."""


def write_tokenizer(layout: TokenizerLayout, folder: Path, model_config: dict[str, Any]) -> None:
    """Write the published files into `folder`; `model_config` is the config.json that goes with them."""
    everything = _MAKERS[layout.kind](layout)
    config = {**layout.config, **_added_decoder(layout)}
    everything |= {
        "tokenizer_config.json": json.dumps(_with_sentinels(config), indent=2).encode(),
        "special_tokens_map.json": json.dumps(_with_sentinels(layout.special), indent=2).encode(),
        "added_tokens.json": json.dumps(layout.added, indent=2).encode(),
    }
    if "tokenizer.json" in layout.files and "tokenizer.json" not in everything:
        everything["tokenizer.json"] = _fast(everything, model_config)
    for name in layout.files:
        (folder / name).write_bytes(everything[name])


def _with_sentinels(values: dict[str, Any]) -> dict[str, Any]:
    """The hundred sentinels of T5 in place of the word."""
    named = {key: _SENTINELS for key, value in values.items() if value == "sentinels"}
    return {**values, **named}


def _added_decoder(layout: TokenizerLayout) -> dict[str, Any]:
    """Newer tokenizer_config.json files list the tokens that are added; older ones do not."""
    if layout.config.get("added_tokens_decoder") != "published":
        return {}
    tokens = {**layout.fixed, **layout.added}
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    return {"added_tokens_decoder": {str(index): {"content": token, **flags} for token, index in tokens.items()}}


def _fast(files: dict[str, bytes], model_config: dict[str, Any]) -> bytes:
    """tokenizer.json as transformers writes it from the other files."""
    from transformers import AutoTokenizer

    folder = Path(tempfile.mkdtemp())
    try:
        for name, content in files.items():
            if name != "added_tokens.json":
                (folder / name).write_bytes(content)
        (folder / "config.json").write_text(json.dumps(model_config), encoding="utf-8")
        AutoTokenizer.from_pretrained(folder).save_pretrained(folder / "saved")
        made = (folder / "saved/tokenizer.json").read_bytes()
        return _as_llama(json.loads(made)) if "tokenizer.model" in files else made
    finally:
        shutil.rmtree(folder)


def _as_llama(made: dict[str, Any]) -> bytes:
    """tokenizer.json as Llama-2's kind has it: spaces are marked by the normalizer, one is put before a text, and there
    is no pre-tokenizer."""
    space, mark = {"String": " "}, "\u2581"
    made["normalizer"] = {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": mark},
            {"type": "Replace", "pattern": space, "content": mark},
        ],
    }
    made["pre_tokenizer"] = None
    made["decoder"] = {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": mark}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    }
    return json.dumps(made, ensure_ascii=False).encode()


def _placed(layout: TokenizerLayout, learnt: Sequence[str], never: str) -> list[str]:
    """`size` tokens: the fixed ones at their places, what is learnt from the first free place on, then the others."""
    tokens: list[str | None] = [None] * layout.size
    for token, index in layout.fixed.items():
        if index < layout.size:
            tokens[index] = token
    rest = iter([token for token in learnt if token not in layout.fixed])
    return [token or next(rest, None) or never.format(number) for number, token in enumerate(tokens)]


def _wordpiece(layout: TokenizerLayout) -> dict[str, bytes]:
    from tokenizers import BertWordPieceTokenizer

    made = BertWordPieceTokenizer(lowercase=not layout.cased, strip_accents=None)
    letters = sorted({letter if layout.cased else letter.lower() for line in page() for letter in line} - {" "})
    # Those within a word would get their numbers, by which ties are broken, in an order that differs from run to run.
    first = [*layout.fixed, *(f"##{letter}" for letter in letters)]
    made.train_from_iterator(page(), vocab_size=_LEARNT, show_progress=False, special_tokens=first)
    learnt = sorted(made.get_vocab(), key=made.get_vocab().__getitem__)
    # The first hundred places are unused in the published vocabularies.
    unused = [_UNUSED.format(f"-{number}") for number in range(99 if layout.fixed["[UNK]"] == 100 else 0)]
    return {"vocab.txt": "\n".join([*_placed(layout, [*unused, *learnt], _UNUSED), ""]).encode()}


def _byte_pairs(layout: TokenizerLayout, further: Sequence[str] = ()) -> tuple[dict[str, int], list[tuple[str, str]]]:
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer()
    made.train_from_iterator(page(), vocab_size=_LEARNT, show_progress=False)
    state = json.loads(made._tokenizer.to_str())["model"]
    learnt = sorted(state["vocab"], key=state["vocab"].__getitem__)
    learnt += [token for token in further if token not in state["vocab"]]
    vocabulary = {token: index for index, token in enumerate(_placed(layout, learnt, _NEVER))}
    return vocabulary, [tuple(pair) for pair in state["merges"]]


def _byte_level(layout: TokenizerLayout) -> dict[str, bytes]:
    vocabulary, merges = _byte_pairs(layout)
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges), ""]
    return {"vocab.json": json.dumps(vocabulary, ensure_ascii=False).encode(), "merges.txt": "\n".join(lines).encode()}


def _json_alone(layout: TokenizerLayout, llama_3: bool) -> dict[str, bytes]:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    # Without merges, a word of the vocabulary is taken as it is.
    whole = [f"{start}{word}" for word in WHOLE for start in ("", "\u0120")] if llama_3 else []
    vocabulary, merges = _byte_pairs(layout, whole)
    made = Tokenizer(models.BPE(vocabulary, merges, ignore_merges=llama_3))
    made.decoder = decoders.ByteLevel()
    if llama_3:
        split = pre_tokenizers.Split(Regex(_LLAMA_3), "isolated")
        made.pre_tokenizer = pre_tokenizers.Sequence(
            [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
        )
        start = "<|begin_of_text|>"
        made.post_processor = processors.TemplateProcessing(
            single=f"{start} $A", pair=f"{start} $A {start}:1 $B:1", special_tokens=[(start, layout.added[start])]
        )
    else:
        made.normalizer = normalizers.NFC()
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.post_processor = processors.ByteLevel(trim_offsets=True)
    tokens = sorted({**layout.fixed, **layout.added}.items(), key=lambda pair: pair[1])
    if layout.spaces is not None:
        made.add_tokens([AddedToken(" " * count, normalized=True) for count in range(24, 1, -1)])
    made.add_special_tokens([AddedToken(token, normalized=False) for token, _ in tokens])
    for token, index in tokens:
        assert made.token_to_id(token) == index, (token, index, made.token_to_id(token))
    return {"tokenizer.json": made.to_str().encode()}


def _sentencepiece(layout: TokenizerLayout, name: str, kind: str) -> dict[str, bytes]:
    """A model of `kind` whose further pieces are appended as records of its file format."""
    import sentencepiece

    ids = {role: layout.fixed.get(token, -1) for role, token in _ROLES[name].items()}
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(page()), model_writer=written, model_type=kind, vocab_size=_LEARNT if kind == "bpe" else
        300, hard_vocab_limit=False, byte_fallback=kind == "bpe", num_threads=1, minloglevel=2,
        **(_LLAMA if kind == "bpe" else {}),
        **{f"{role}_id": index for role, index in ids.items()},
        **{f"{role}_piece": token for role, token in _ROLES[name].items() if role in ids and ids[role] >= 0},
    )  # fmt: skip
    content = bytearray(written.getvalue())
    known = sentencepiece.SentencePieceProcessor(model_proto=bytes(content)).get_piece_size()
    for number in range(known, layout.size):
        piece = f"\u2581never{number}".encode()
        score = b"\x15" + (b"\x00\x00\xa0\xc0" if kind == "unigram" else b"\x00\x24\x74\xc9")
        record = b"\x0a" + bytes([len(piece)]) + piece + score
        content += b"\x0a" + bytes([len(record)]) + record
    return {name: bytes(content)}


_T5 = {"pad": "<pad>", "eos": "</s>", "unk": "<unk>", "bos": "<s>"}
_ROLES = {
    "spiece.model": _T5,
    "spm.model": {"pad": "[PAD]", "bos": "[CLS]", "eos": "[SEP]", "unk": "[UNK]"},
    "sentencepiece.bpe.model": _T5,
    "tokenizer.model": _T5,
}


def _unigram(layout: TokenizerLayout) -> dict[str, bytes]:
    (name,) = (file for file in layout.files if file.endswith(".model"))
    return _sentencepiece(layout, name, "unigram")


_MAKERS: dict[str, Callable[[TokenizerLayout], dict[str, bytes]]] = {
    "wordpiece": _wordpiece,
    "byte_level": _byte_level,
    "neox": lambda layout: _json_alone(layout, llama_3=False),
    "llama_3": lambda layout: _json_alone(layout, llama_3=True),
    "unigram": _unigram,
    "sentencepiece_bpe": lambda layout: _sentencepiece(layout, "tokenizer.model", "bpe"),
}
