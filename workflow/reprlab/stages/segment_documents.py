"""Stage `segment_documents`: documents into passages of sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.runtime.cli import run_stage
from reprlab.text.segmentation import SegmentationSettings

if TYPE_CHECKING:
    import pyarrow

    from reprlab.text.sentences import SentenceSplitter

_DOCUMENTS = 1_000


def segment_documents(
    *,
    documents: Path,
    out: Path,
    settings: SegmentationSettings,
    least_characters: int = 0,
    limit: int | None = None,
    receipt: Path | None = None,
    cache: Path | None = None,
    registry: Path | None = None,
) -> None:
    """Split documents into sentences and cut them into passages.

    Writes `out` with the columns document, passage (from 0 within its document), split, source, sentences. Documents
    with fewer than `least_characters` are left out, and of each split those beyond the first `limit`.
    `receipt` and `cache` lead to the archive with Punkt's model, which only the splitter punkt_package needs.
    """
    import pyarrow

    from reprlab.runtime.log import get_logger
    from reprlab.text.parquet_batches import data_metadata, write_batches

    schema = pyarrow.schema(
        [
            ("document", pyarrow.string()),
            ("passage", pyarrow.int32()),
            ("split", pyarrow.string()),
            ("source", pyarrow.string()),
            ("sentences", pyarrow.list_(pyarrow.string())),
        ],
        metadata=data_metadata(documents),
    )
    splitter = _splitter(documents, settings, receipt, cache, registry)
    rows = write_batches(out, schema, _passages(documents, settings, splitter, schema, least_characters, limit))
    get_logger().info("%s: %d passages", out, rows)


def _splitter(
    documents: Path, settings: SegmentationSettings, receipt: Path | None, cache: Path | None, registry: Path | None
) -> SentenceSplitter | None:
    from reprlab.runtime.errors import ReprlabError
    from reprlab.text import sentences

    if settings.splitter == "none":
        return None
    if settings.splitter == "nltk":
        return sentences.nltk_splitter()
    if settings.splitter == "punkt_trained":
        return sentences.trained_splitter(_training_texts(documents, settings.training_characters))
    if receipt is None or cache is None:
        raise ReprlabError("splitter: punkt_package needs --receipt and --cache of the archive with Punkt's model")
    from reprlab.data.archives import Archive

    return sentences.package_splitter(Archive.open(cache, receipt, registry).member(sentences.PUNKT_MEMBER))


def _training_texts(documents: Path, characters: int) -> Iterator[str]:
    from reprlab.text.parquet_batches import read_batches

    left = characters
    for batch in read_batches(documents, ["text", "split"], _DOCUMENTS):
        for text, split in zip(batch["text"].to_pylist(), batch["split"].to_pylist(), strict=True):
            if split == "train":
                yield text[:left]
                left -= len(text)
            if left <= 0:
                return


def _passages(
    documents: Path,
    settings: SegmentationSettings,
    splitter: SentenceSplitter | None,
    schema: pyarrow.Schema,
    least: int,
    limit: int | None,
) -> Iterator[pyarrow.RecordBatch]:
    from collections import Counter

    import pyarrow.compute

    from reprlab.runtime.progress import track
    from reprlab.text.parquet_batches import read_batches
    from reprlab.text.segmentation import cut_passages
    from reprlab.text.sentences import split_sentences

    seen: Counter[str] = Counter()
    for batch in track(read_batches(documents, ["id", "text", "source", "split"], _DOCUMENTS), "thousand documents"):
        rows = []
        kept = batch.filter(pyarrow.compute.greater_equal(pyarrow.compute.utf8_length(batch["text"]), least))
        texts = kept["text"].to_pylist()
        split = [[text] for text in texts] if splitter is None else split_sentences(texts, splitter)
        for record, sentences in zip(kept.select(["id", "source", "split"]).to_pylist(), split, strict=True):
            seen[record["split"]] += 1
            if limit is not None and seen[record["split"]] > limit:
                continue
            for number, passage in enumerate(cut_passages(sentences, settings)):
                rows.append(
                    {
                        "document": record["id"],
                        "passage": number,
                        "split": record["split"],
                        "source": record["source"],
                        "sentences": passage,
                    }
                )
        yield pyarrow.RecordBatch.from_pylist(rows, schema=schema)


if __name__ == "__main__":
    run_stage(segment_documents)
