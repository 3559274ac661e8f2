"""Mix corpora: the rows of several tables, passages or tokens, as one table."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprlab.runtime.cli import run_stage

_ROWS = 10_000


def mix_corpora(*, tables: list[Path], out: Path) -> None:
    """Write the rows of all tables, one table after the other, with the columns that they share, as a stream.

    The order does not matter to what reads it: training draws its own.

    Raises:
        ReprlabError: a table is damaged, or two have a column of one name and different types.
    """
    import pyarrow
    import pyarrow.parquet

    from reprlab.artifacts.tables import parquet_errors
    from reprlab.runtime.errors import ReprlabError
    from reprlab.text.parquet_batches import data_metadata, write_batches

    schemas = []
    for path in tables:
        with parquet_errors(path):
            schemas.append(pyarrow.parquet.read_schema(path))
    fields = [field for field in schemas[0] if all(field.name in schema.names for schema in schemas)]
    for path, schema in zip(tables, schemas, strict=True):
        for field in fields:
            if schema.field(field.name).type != field.type:
                raise ReprlabError(f"{path}: its column {field.name} is not of the type that {tables[0]} has")
    schema = pyarrow.schema(fields, metadata=_together([data_metadata(path) for path in tables]))
    write_batches(out, schema, _rows(tables, schema))


def _rows(tables: list[Path], schema: Any) -> Iterator[Any]:
    import pyarrow

    from reprlab.text.parquet_batches import read_batches

    for path in tables:
        for batch in read_batches(path, schema.names, _ROWS):
            yield pyarrow.RecordBatch.from_arrays([batch[name] for name in schema.names], schema=schema)


def _together(metadata: list[dict[bytes, bytes]]) -> dict[bytes, bytes]:
    """What the tables say of their data: of each statement the distinct ones, joined."""
    import json

    found: dict[bytes, bytes] = {}
    for key in dict.fromkeys(key for one in metadata for key in one):
        said = [json.loads(one[key]) for one in metadata if key in one]
        names = dict.fromkeys(name for one in said for name in one)
        joined = {name: " + ".join(dict.fromkeys(str(one[name]) for one in said if name in one)) for name in names}
        found[key] = json.dumps(joined, sort_keys=True).encode()
    return found


if __name__ == "__main__":
    run_stage(mix_corpora)
