"""Test a paper's claims against our numbers."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def test_claims(*, paper: str, inputs: list[Path], varied: Path | None = None, out: Path) -> None:
    """Write one row per claim: its rule, statistic, estimate, interval, verdict, and what the verdict depends on.

    Args:
        paper: its slug.
        inputs: results.parquet; it names the files with the items behind its scores.
        varied: sensitivity.tsv of the run, where somebody made it (`reprlab.planning.sensitivity`).
        out: TSV with the columns id, claim, rule, statistic, estimate, low, high, interval, unit, units,
            power, verdict, twin, depends_on, note.

    Raises:
        ReprlabError: two claims have one id, or the frame or the items are damaged.
    """
    from reprlab.artifacts.tables import read_tsv
    from reprlab.reporting.provenance import write_provenance
    from reprlab.results import claims
    from reprlab.results.digits import write_table
    from reprlab.results.frame import read_frame
    from reprlab.results.records import records_of
    from reprlab.results.sensitivity import with_dependence

    frame, records = read_frame(inputs[0]), records_of(paper)
    table = claims.claims_table(records.claims, frame, records.unjudged, records.twins)
    write_table(out, with_dependence(table, read_tsv(varied) if varied else None))
    about = {"paper": paper, "scale": frame.scale, "options": dict(frame.options)}
    write_provenance(out, stage="test_claims", settings=about, inputs=[*inputs, *([varied] if varied else [])])


if __name__ == "__main__":
    run_stage(test_claims)
