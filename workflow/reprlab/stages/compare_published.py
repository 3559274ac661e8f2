"""Set a paper's printed values beside ours."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def compare_published(
    *, paper: str, scale: str, tables: list[Path], published: list[Path], out: Path, costs: Path | None = None
) -> None:
    """Write every printed cell once, with our number or the reason why there is none.

    Args:
        paper: its slug.
        scale: scale of the run, for the notes.
        tables: results.parquet.
        published: the printed tables.
        out: TSV with the columns table, row, column, published, ours, note.
        costs: what the published runs are reckoned to take; the hours that the paper prints stand beside them.
    """
    from reprlab.artifacts.tables import write_tsv
    from reprlab.reporting.cost import with_hours
    from reprlab.reporting.provenance import write_provenance
    from reprlab.reporting.published import read_published
    from reprlab.results.comparison import compare, declarations
    from reprlab.results.frame import read_frame
    from reprlab.results.records import records_of

    records = records_of(paper)
    printed = read_published(published, declarations(records.printed))
    compared = compare(records.own(read_frame(tables[0])), printed, records.printed)
    write_tsv(out, compared if costs is None else with_hours(compared, costs))
    settings = {"paper": paper, "scale": scale}
    write_provenance(
        out, stage="compare_published", settings=settings, inputs=[*tables, *published, *([costs] if costs else [])]
    )


if __name__ == "__main__":
    run_stage(compare_published)
