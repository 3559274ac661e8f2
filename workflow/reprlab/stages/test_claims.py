"""Test a paper's claims against our numbers."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def test_claims(*, paper: str, layout: str = "", inputs: list[Path], out: Path) -> None:
    """Write one row per claim: its rule, statistic, estimate, interval and verdict.

    Args:
        paper: its slug.
        layout: JSON that says which file is evidence of what (papers without a frame of results).
        inputs: results.parquet; or every file that the layout names.
        out: TSV with the columns id, claim, rule, statistic, estimate, low, high, interval, unit, units,
            verdict, note.

    Raises:
        ReprlabError: a layout that is not valid or names a file that is no input.
    """
    import json

    from reprlab.plugins import load_plugin
    from reprlab.reporting.claims import write_claims
    from reprlab.reporting.provenance import write_provenance
    from reprlab.results.claims import claims_table
    from reprlab.results.digits import write_table
    from reprlab.results.frame import is_frame, read_frame
    from reprlab.results.records import records_of

    if is_frame(inputs):
        frame, records = read_frame(inputs[0]), records_of(paper)
        write_table(out, claims_table(records.claims, frame, records.unjudged))
        about = {"paper": paper, "scale": frame.scale, "options": dict(frame.options)}
        write_provenance(out, stage="test_claims", settings=about, inputs=inputs)
        return
    write_claims(out, load_plugin("papers", f"{paper}.claims").claims(layout, inputs))
    settings = {"paper": paper, "layout": json.loads(layout)}
    write_provenance(out, stage="test_claims", settings=settings, inputs=inputs)


if __name__ == "__main__":
    run_stage(test_claims)
