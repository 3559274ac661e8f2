"""Hours of a paper's jobs in this run, beside the published ones."""

from pathlib import Path

from reprlab.reporting.hours import HoursSettings
from reprlab.runtime.cli import run_stage


def sum_hours(*, settings: HoursSettings, benchmarks: Path, out: Path, inputs: list[Path] | None = None) -> None:
    """Write `gpu_hours.tsv`; see `reprlab.reporting.hours` for its columns.

    Args:
        settings: jobs by task and activity.
        benchmarks: folder of the engine's benchmark files.
        out: the TSV.
        inputs: what the measured jobs made: their measurements are there when these are.
    """
    from reprlab.reporting.hours import hours_table
    from reprlab.reporting.provenance import write_provenance
    from reprlab.results.digits import write_table

    write_table(out, hours_table(settings, benchmarks))
    write_provenance(out, stage="sum_hours", settings=settings.model_dump(mode="json"), inputs=inputs or [])


if __name__ == "__main__":
    run_stage(sum_hours)
