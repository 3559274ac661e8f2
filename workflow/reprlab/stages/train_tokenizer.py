"""Stage `train_tokenizer`: a tokenizer from the corpus, or a published one with DEPTH's tokens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.text.tokenizers import TokenizerSettings


def train_tokenizer(
    *, out: Path, settings: TokenizerSettings, sentences: Path | None = None, cache: Path | None = None
) -> None:
    """Make a tokenizer's folder, which `AutoTokenizer.from_pretrained` opens, with `vocabulary.json`.

    `sentences` is the segmented corpus; only its train split is read, and only when one is trained. A published one
    that is not a folder needs the download cache.
    """
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import atomic_directory
    from reprlab.text import tokenizers
    from reprlab.text.byte_pairs import train_byte_pairs

    vocabulary = settings.vocabulary()
    if settings.source == "model":
        if not settings.model:
            raise ReprlabError("model: the tokenizer's source is model, but no model is named; name one")
        tokenizer = tokenizers.published_tokenizer(settings.model, settings.revision, vocabulary, cache)
    elif sentences is None:
        raise ReprlabError("sentences: a tokenizer that is trained needs --sentences")
    else:
        train = train_byte_pairs if settings.source == "trained_bytes" else tokenizers.train_unigram
        tokenizer = train(_training_sentences(sentences, settings.max_sentences), vocabulary)
    with atomic_directory(out) as folder:
        tokenizers.save_tokenizer(tokenizer, vocabulary, folder)


def _training_sentences(path: Path, limit: int) -> Iterator[str]:
    from itertools import islice

    from reprlab.text.parquet_batches import read_batches

    def train_split() -> Iterator[str]:
        for batch in read_batches(path, ["split", "sentences"], 10_000):
            for split, sentences in zip(batch["split"].to_pylist(), batch["sentences"].to_pylist(), strict=True):
                if split == "train":
                    yield from sentences

    return islice(train_split(), limit)


if __name__ == "__main__":
    run_stage(train_tokenizer)
