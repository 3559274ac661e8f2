"""Running text in a column of Parquet files of the hub, one document a row."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.artifacts.tables import parquet_errors
from reprlab.data.published_tables import published_parquet
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import SplitFile, SplitSettings
from reprlab.runtime.errors import ReprlabError

_ROWS = 10_000


class Settings(BaseModel):
    """Files and column."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: list[SplitFile] = Field(min_length=1)
    """The files."""
    column: str
    """Column of the text."""
    validation_share: float = Field(default=0, ge=0, lt=1)
    """Share of the rows of a file, the first ones, that are validation, where nothing else says so."""
    by_document: bool = False
    """Split by a hash of the document, as `splits` of the entry has it, whatever the files say."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document a row, as a stream; rows without text are left out.

    Raises:
        ReprlabError: a file is damaged or has no such column of texts.
    """
    import pyarrow
    import pyarrow.parquet

    for number, source in enumerate(settings.files):
        path = published_parquet(sources.archive, source.file, [settings.column])
        row = 0
        with parquet_errors(path), pyarrow.parquet.ParquetFile(path) as opened:
            kind = opened.schema_arrow.field(settings.column).type
            if not pyarrow.types.is_string(kind):
                place = sources.archive.place(source.file)
                raise ReprlabError(
                    f"{place}: its column {settings.column} is of {kind}, not of texts; correct `column`"
                )
            held_out = int(settings.validation_share * opened.metadata.num_rows)
            for batch in opened.iter_batches(_ROWS, columns=[settings.column]):
                batch.validate(full=True)
                for text in batch.column(0).to_pylist():
                    split = "validation" if row < held_out else source.split
                    row += 1
                    if text and text.strip():
                        found = {"id": f"{number}-{row}", "text": text, "source": source.file}
                        yield found if settings.by_document else {**found, "split": split}
