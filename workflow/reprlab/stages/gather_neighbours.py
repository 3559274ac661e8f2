"""Gather the published rivals of all papers' methods in one table."""

from pathlib import Path

from reprlab.results.neighbours import NeighbourSettings
from reprlab.runtime.cli import run_stage


def gather_neighbours(
    *, settings: NeighbourSettings, benchmarks: Path, out: Path, frames: list[Path] | None = None
) -> None:
    """Write `neighbours.tsv`: the columns of `reprlab.results.neighbour_table`, one row for each neighbour and cell.

    Args:
        settings: cells of each paper, in the order of their frames, with the jobs that each side cost.
        benchmarks: folder of the engine's benchmark files.
        out: the TSV.
        frames: results.parquet of each paper; none where no paper declares neighbours.

    Raises:
        ReprlabError: a frame, or the items that it names, are damaged.
    """
    from reprlab.reporting.provenance import write_provenance
    from reprlab.results.digits import write_table
    from reprlab.results.frame import read_frame
    from reprlab.results.neighbour_table import neighbour_rows, neighbours_table
    from reprlab.results.records import records_of

    rows = [
        row
        for (slug, cells), path in zip(settings.papers.items(), frames or [], strict=True)
        for row in neighbour_rows(slug, records_of(slug), read_frame(path), cells, benchmarks)
    ]
    write_table(out, neighbours_table(rows))
    about = settings.model_dump(mode="json", exclude_defaults=True)
    write_provenance(out, stage="gather_neighbours", settings=about, inputs=frames or [])


if __name__ == "__main__":
    run_stage(gather_neighbours)
