"""Byte-level BPE trained on the spot, as decoders use it: nothing is lost, line ends and spaces included."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

from reprlab.runtime.errors import ReprlabError
from reprlab.text.vocabulary import EOS, PAD, UNK, Vocabulary

_PARALLELISM = "TOKENIZERS_PARALLELISM"


def train_byte_pairs(texts: Iterable[str], vocabulary: Vocabulary) -> Any:
    """Train byte-level BPE (the word pattern of GPT-2) on texts and wrap it as a fast tokenizer, in one thread.

    Nothing is added to a text, neither a space before nor an end token behind.

    Raises:
        ReprlabError: the text is too short for so many pieces.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from tokenizers.processors import ByteLevel
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    # Offsets cover the space that belongs to a token: the boundary of prompt and completion is found by them.
    backend.post_processor = ByteLevel(trim_offsets=False)
    special = [AddedToken(name, normalized=False, special=True) for name in (PAD, EOS, UNK)]
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary.pieces,
        special_tokens=special,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    with _one_thread():
        backend.train_from_iterator(texts, trainer)
    if backend.get_vocab_size() < vocabulary.pieces:
        raise ReprlabError(
            f"pieces: this text gives {backend.get_vocab_size()} byte-level pieces and {vocabulary.pieces} are wanted; "
            "take fewer pieces or more text"
        )
    added = sorted(vocabulary.tokens().items(), key=lambda item: item[1])
    backend.add_special_tokens([AddedToken(name, normalized=False, special=True) for name, _ in added])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=PAD,
        eos_token=EOS,
        unk_token=UNK,
        extra_special_tokens=[name for name, _ in added],
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Training in several threads may count in another order."""
    before = os.environ.get(_PARALLELISM)
    os.environ[_PARALLELISM] = "false"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_PARALLELISM]
        else:
            os.environ[_PARALLELISM] = before
