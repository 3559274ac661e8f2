"""Documents into blocks of tokens with their words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprlab.concepts.settings import BlockSettings
from reprlab.runtime.cli import run_stage

_DOCUMENTS = 1_000


def tokenize_blocks(*, documents: list[Path], tokenizer: Path, out: Path, settings: BlockSettings) -> None:
    """Write Parquet with the columns split, input_ids, token_types, words and joined (see `reprlab.concepts.blocks`).

    It is a token file like those of `tokenize_corpus`: a `TokenStore` opens it.
    """
    import pyarrow

    from reprlab.concepts.files import BLOCK_COLUMNS
    from reprlab.runtime.log import get_logger
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.text.parquet_batches import data_metadata, write_batches

    schema = pyarrow.schema(BLOCK_COLUMNS, metadata=data_metadata(documents[0]))
    opened = load_tokenizer(tokenizer)
    rows = write_batches(out, schema, (row for path in documents for row in _batches(path, opened, settings, schema)))
    get_logger().info("%s: %d blocks", out, rows)


def _batches(path: Path, tokenizer: Any, settings: BlockSettings, schema: Any) -> Iterator[Any]:
    from collections import Counter

    import pyarrow

    from reprlab.concepts.blocks import cut_blocks
    from reprlab.runtime.progress import track
    from reprlab.text.parquet_batches import read_batches

    seen: Counter[str] = Counter()
    for batch in track(read_batches(path, ["split", "text"], _DOCUMENTS), f"{path.parent.name}, a thousand texts"):
        splits, texts = batch["split"].to_pylist(), batch["text"].to_pylist()
        if settings.documents is not None:
            before = [seen.update([split]) or seen[split] for split in splits]
            kept = [row for row, number in enumerate(before) if number <= settings.documents]
            splits, texts = [splits[row] for row in kept], [texts[row] for row in kept]
        columns: list[list[Any]] = [[] for _ in schema.names]
        for row, blocks in cut_blocks(tokenizer, texts, settings.length):
            of_text: tuple[list[Any], ...] = (blocks.ids, blocks.types, blocks.words, blocks.joined)
            of_block = ([splits[row]] * len(blocks.ids), *of_text)
            for column, values in zip(columns, of_block, strict=True):
                column += values
        arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
        yield pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


if __name__ == "__main__":
    run_stage(tokenize_blocks)
