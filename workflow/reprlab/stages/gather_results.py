"""Gather the values of all scored stages of a paper in one frame."""

from pathlib import Path

from reprlab.results.sources import GatherSettings
from reprlab.runtime.cli import run_stage


def gather_results(*, inputs: list[Path] | None = None, settings: GatherSettings, out: Path) -> None:
    """Write `results.parquet`: the columns of `docs/results.md`, one row for each value.

    Args:
        inputs: every file that the settings name.
        settings: sources with the factors that tell their rows apart, and cells that stay empty.
        out: the Parquet file.

    Raises:
        ReprlabError: a source that is not an input, or that lacks a column, a row or a metric.
    """
    from reprlab.reporting.provenance import write_provenance
    from reprlab.results.frame import write_results
    from reprlab.results.gather import require_inputs

    require_inputs(settings, inputs or [])
    write_results(out, settings)
    about = settings.model_dump(mode="json", exclude_defaults=True, exclude={"entries"})
    write_provenance(out, stage="gather_results", settings=about, inputs=inputs or [])


if __name__ == "__main__":
    run_stage(gather_results)
