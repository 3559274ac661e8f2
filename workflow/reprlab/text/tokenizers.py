"""Tokenizers with DEPTH's tokens: SentencePiece Unigram trained on the spot, or a published T5 one (spec 2.1)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_settings import TokenizerRecipe
from reprlab.text.vocabulary import EOS, EOS_ID, PAD, PAD_ID, UNK, UNK_ID, Vocabulary

_SPACE = "▁"


class TokenizerSettings(TokenizerRecipe):
    """How the tokenizer is made."""

    model: str = ""
    """Hub name or folder of the published tokenizer."""
    revision: str = "main"
    """Its revision on the hub."""

    def vocabulary(self) -> Vocabulary:
        """The id layout that these settings ask for."""
        return Vocabulary(self.pieces, self.sentinels, self.sentence_tokens)


def train_unigram(sentences: Iterable[str], vocabulary: Vocabulary) -> Any:
    """Train a Unigram model on sentences and wrap it as a fast tokenizer. One thread, so the same text gives the same.

    Text is normalised by NFKC and split at white space; every sentence starts with a space, and EOS is appended.

    Raises:
        ReprlabError: the text is too short for so many pieces.
    """
    import sentencepiece

    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_normalised(sentences),
            model_writer=model,
            model_type="unigram",
            vocab_size=vocabulary.pieces,
            normalization_rule_name="identity",
            pad_id=PAD_ID,
            eos_id=EOS_ID,
            unk_id=UNK_ID,
            bos_id=-1,
            num_threads=1,
            shuffle_input_sentence=False,
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())[-200:]
        raise ReprlabError(
            f"pieces: no vocabulary of {vocabulary.pieces} pieces can be learnt from this text ({reason}); take fewer "
            "pieces or more text"
        ) from None
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    scores = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(vocabulary.pieces)]
    return _fast_tokenizer(scores, vocabulary)


def _normalised(sentences: Iterable[str]) -> Iterator[str]:
    import unicodedata

    for sentence in sentences:
        text = " ".join(unicodedata.normalize("NFKC", sentence).split())
        if text:
            yield text


def _fast_tokenizer(scores: list[tuple[str, float]], vocabulary: Vocabulary) -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.Unigram(scores, unk_id=UNK_ID, byte_fallback=False))
    backend.normalizer = normalizers.NFKC()
    space: dict[str, Any] = {"replacement": _SPACE, "prepend_scheme": "always", "split": True}
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(**space)]
    )
    backend.decoder = decoders.Metaspace(**space)
    backend.post_processor = processors.TemplateProcessing(
        single=["$A", EOS], pair=["$A", EOS, "$B", EOS], special_tokens=[(EOS, EOS_ID)]
    )
    added = sorted(vocabulary.tokens().items(), key=lambda item: item[1])
    tokens = [AddedToken(name, normalized=False, special=True) for name in (PAD, EOS, UNK)]
    backend.add_special_tokens(tokens + [AddedToken(name, normalized=False, special=True) for name, _ in added])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=PAD,
        eos_token=EOS,
        unk_token=UNK,
        extra_special_tokens=[name for name, _ in added],
        model_input_names=["input_ids", "attention_mask"],
    )


def published_tokenizer(model: str, revision: str, vocabulary: Vocabulary, cache: Path | None = None) -> Any:
    """A published T5 tokenizer with the sentence tokens and EOSEN added behind its sentinels.

    Args:
        model: hub name, or a folder.
        revision: commit, tag or branch of a repository of the hub.
        vocabulary: the ids that it must have.
        cache: the download cache, which remembers the commits of branches; a folder needs none.

    Raises:
        ReprlabError: it cannot be had or read.
    """
    from reprlab.hub.commits import commit_of
    from reprlab.hub.snapshots import fetch_files, tokenizer_files
    from reprlab.text.model_tokenizers import published_tokenizer_of

    folder, where = Path(model), model
    if not folder.is_dir():
        if cache is None:
            raise ReprlabError(f"{model}: neither a folder, nor a repository of the hub with --cache; name one")
        commit = commit_of(cache, model, revision)
        folder, where = fetch_files(model, commit, tokenizer_files), f"{model}@{commit}"
    tokenizer = published_tokenizer_of(folder, where)
    names = sorted(vocabulary.tokens(), key=vocabulary.tokens().__getitem__)
    missing = [name for name in names if name not in tokenizer.get_vocab()]
    tokenizer.add_special_tokens({"extra_special_tokens": missing}, replace_extra_special_tokens=False)
    return tokenizer


def save_tokenizer(tokenizer: Any, vocabulary: Vocabulary, folder: Path) -> None:
    """Write the tokenizer and `vocabulary.json` to an existing folder.

    Raises:
        ReprlabError: the tokenizer's ids are not those of `vocabulary`.
    """
    expected = vocabulary.tokens() | {PAD: PAD_ID, EOS: EOS_ID, UNK: UNK_ID}
    known = tokenizer.get_vocab()
    for name, index in expected.items():
        if known.get(name) != index:
            raise ReprlabError(
                f"{name}: the tokenizer gives it id {known.get(name)}, the layout of {vocabulary.pieces} pieces wants "
                f"{index}; set pieces, sentinels and sentence_tokens to those of the published tokenizer"
            )
    tokenizer.save_pretrained(folder)
    vocabulary.save(folder)
