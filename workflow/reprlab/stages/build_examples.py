"""Turn the archives (or the held-out documents) of one task into labelled examples."""

from pathlib import Path

from reprlab.registry.dataset_entries import Limits, TaskEntry
from reprlab.runtime.cli import run_stage


def build_examples(
    *,
    entry: TaskEntry,
    receipts: list[Path] = [],  # noqa: B006 - a command-line default, never changed
    documents: list[Path] = [],  # noqa: B006
    cache: Path,
    registry: Path | None = None,
    out: Path,
    limits: Limits = Limits(),  # noqa: B008
) -> None:
    """Write `out`: Parquet with the columns of `entry.kind` (see `reprlab.data.schema`).

    What the cache lacks is fetched again by `registry`. `documents` are the segmented sentences of the corpora that the
    entry names. `limits` are recorded in the metadata.

    Raises:
        ReprlabError: an archive is missing or not in its format, a row or a label is not as declared.
    """
    from reprlab.data.examples import examples_of, metadata_of
    from reprlab.data.schema import write_rows
    from reprlab.data.sources import open_sources

    rows = examples_of(entry, open_sources(entry.archives, receipts, documents, cache, registry), limits)
    write_rows(out, rows, entry.kind, metadata_of(entry, limits, rows))


if __name__ == "__main__":
    run_stage(build_examples)
