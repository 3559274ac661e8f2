"""Test a paper's claims against our numbers."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def test_claims(*, paper: str, inputs: list[Path], out: Path) -> None:
    """Write one row per claim: its rule, statistic, estimate, interval and verdict.

    Args:
        paper: its slug.
        inputs: results.parquet; it names the files with the items behind its scores.
        out: TSV with the columns id, claim, rule, statistic, estimate, low, high, interval, unit, units,
            verdict, note.

    Raises:
        ReprlabError: two claims have one id, or the frame or the items are damaged.
    """
    from reprlab.reporting.provenance import write_provenance
    from reprlab.results import claims
    from reprlab.results.digits import write_table
    from reprlab.results.frame import read_frame
    from reprlab.results.records import records_of

    frame, records = read_frame(inputs[0]), records_of(paper)
    write_table(out, claims.claims_table(records.claims, frame, records.unjudged))
    about = {"paper": paper, "scale": frame.scale, "options": dict(frame.options)}
    write_provenance(out, stage="test_claims", settings=about, inputs=inputs)


if __name__ == "__main__":
    run_stage(test_claims)
