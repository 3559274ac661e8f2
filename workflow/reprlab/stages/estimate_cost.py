"""Cost of a paper's training and inference as published, with the count compared with runs made here."""

from pathlib import Path

from reprlab.reporting.cost_layout import CostLayout
from reprlab.runtime.cli import run_stage


def estimate_cost(*, layout: CostLayout, benchmarks: Path, out: Path, inputs: list[Path] | None = None) -> None:
    """Write `cost.tsv`; see `reprlab.reporting.cost` for its columns, `models.flops` for what is counted.

    Args:
        layout: the runs as published, and those of the active scale.
        benchmarks: folder of the engine's benchmark files, for the seconds of stages that record none themselves.
        out: the TSV.
        inputs: every file that the layout names.
    """
    from reprlab.artifacts.tables import write_tsv
    from reprlab.models.build import quiet_transformers
    from reprlab.reporting.cost import cost_table
    from reprlab.reporting.provenance import write_provenance

    # Kernels that are missing here would be named; it is they that are counted.
    quiet_transformers()
    write_tsv(out, cost_table(layout, benchmarks))
    write_provenance(out, stage="estimate_cost", settings=layout.model_dump(mode="json"), inputs=inputs or [])


if __name__ == "__main__":
    run_stage(estimate_cost)
