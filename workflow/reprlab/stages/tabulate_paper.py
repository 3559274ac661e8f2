"""Build one of a paper's result tables."""

from pathlib import Path

from reprlab.results.sources import GatherSettings
from reprlab.runtime.cli import run_stage


def tabulate_paper(
    *,
    paper: str,
    table: str,
    gather: GatherSettings,
    inputs: list[Path] | None = None,
    out: Path,
) -> None:
    """Write a table in the paper's own columns, followed by scale, seed, n, steps, tokens, data and note.

    Args:
        paper: its slug.
        table: name of the table, without ending.
        gather: the part of the paper's frame of results that the table selects from.
        inputs: every file that is read.
        out: the TSV.

    Raises:
        ReprlabError: no such table, or a file that is read is not an input.
    """
    from reprlab.reporting.provenance import write_provenance
    from reprlab.results.digits import write_table
    from reprlab.results.frame import frame_of
    from reprlab.results.gather import gather_rows, require_inputs
    from reprlab.results.records import records_of

    inputs = inputs or []
    require_inputs(gather, inputs)
    frame = frame_of(gather_rows(gather), gather)
    write_table(out, records_of(paper).table(table).make(frame))
    about = {"paper": paper, "table": table, "scale": frame.scale, "options": dict(frame.options)}
    write_provenance(out, stage="tabulate_paper", settings=about, inputs=inputs)


if __name__ == "__main__":
    run_stage(tabulate_paper)
