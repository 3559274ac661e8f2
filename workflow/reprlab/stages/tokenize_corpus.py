"""Stage `tokenize_corpus`: passages of sentences into token ids in the format of T5, of DEPTH or of a decoder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.runtime.cli import run_stage
from reprlab.text.token_settings import TokenStorageSettings

if TYPE_CHECKING:
    import pyarrow

_PASSAGES = 10_000


def tokenize_corpus(*, sentences: Path, tokenizer: Path, out: Path, settings: TokenStorageSettings) -> None:
    """Tokenise every passage of `sentences`, or every target where the table holds pairs of texts.

    Writes `out` with the columns split, input_ids and token_types, one row for each passage that has a token, cut to
    `max_length` and not padded.
    """
    import pyarrow

    from reprlab.runtime.log import get_logger
    from reprlab.text.parquet_batches import data_metadata, write_batches

    schema = pyarrow.schema(
        [
            ("split", pyarrow.string()),
            ("input_ids", pyarrow.list_(pyarrow.int32())),
            ("token_types", pyarrow.list_(pyarrow.int16())),
        ],
        metadata=data_metadata(sentences),
    )
    rows = write_batches(out, schema, _rows(sentences, tokenizer, settings, schema))
    get_logger().info("%s: %d rows in %s format", out, rows, settings.format)


def _rows(
    sentences: Path, folder: Path, settings: TokenStorageSettings, schema: pyarrow.Schema
) -> Iterator[pyarrow.RecordBatch]:
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    from reprlab.artifacts.tables import parquet_errors
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.progress import track
    from reprlab.text import sequences
    from reprlab.text.parquet_batches import read_batches
    from reprlab.text.published_vocabulary import PublishedVocabulary
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.text.vocabulary import FILE, Vocabulary

    tokenizer = open_tokenizer(folder)
    # A published decoder's tokenizer has no layout of ours, and rows of a decoder need none.
    published = settings.format == "causal" and not (folder / FILE).exists()
    vocabulary = PublishedVocabulary(tokenizer) if published else Vocabulary.load(folder)
    start = tokenizer.bos_token_id if settings.start_token else None
    if settings.start_token and start is None:
        raise ReprlabError(f"{folder}: its tokenizer has no token that starts a text; set start_token to false")
    rng = np.random.Generator(np.random.Philox(key=settings.seed))
    with parquet_errors(sentences):
        text = "targets" if "targets" in pyarrow.parquet.read_schema(sentences).names else "sentences"
    for batch in track(read_batches(sentences, ["split", text], _PASSAGES), "ten thousand passages"):
        passages = batch[text].to_pylist()
        if settings.format == "causal":
            # A byte-level tokenizer keeps the space before a word with the word: sentences cut apart would lose theirs.
            passages = [[" ".join(sentences)] for sentences in passages]
        encoded = sequences.encode_passages(tokenizer, passages, vocabulary)
        if isinstance(vocabulary, PublishedVocabulary) or settings.format != "depth":
            rows = sequences.t5_sequences(encoded, vocabulary, settings.max_length, start)
        else:
            # Drawn for every passage, so that the draws do not depend on which passages turn out empty.
            drawn = sequences.draw_sentence_tokens(batch.num_rows, vocabulary, rng)
            limited = encoded.first_sentences(settings.max_sentences)
            rows = sequences.depth_sequences(limited, vocabulary, settings.max_length, drawn)
        columns = [
            batch["split"],
            pyarrow.ListArray.from_arrays(rows.offsets.astype(np.int32), rows.ids),
            pyarrow.ListArray.from_arrays(rows.offsets.astype(np.int32), rows.types),
        ]
        filled = np.bincount(encoded.passages, minlength=encoded.count) > 0
        yield pyarrow.RecordBatch.from_arrays(columns, schema=schema).filter(pyarrow.array(filled))


if __name__ == "__main__":
    run_stage(tokenize_corpus)
