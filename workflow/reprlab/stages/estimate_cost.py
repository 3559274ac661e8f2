"""Cost of a paper's training and inference, beside the published runs, with the count compared with runs made here."""

from pathlib import Path

from reprlab.reporting.cost_layout import CostLayout
from reprlab.runtime.cli import run_stage


def estimate_cost(
    *,
    layout: CostLayout,
    scale: str,
    benchmarks: Path,
    out: Path,
    published: Path | None = None,
    inputs: list[Path] | None = None,
) -> None:
    """Write `cost.tsv`; see `reprlab.reporting.cost` for its columns, `models.flops` for what is counted.

    Args:
        layout: the runs of the active scale.
        scale: that scale.
        benchmarks: folder of the engine's benchmark files, for the seconds of stages that record none themselves.
        out: the TSV.
        published: rows of the published scale, which come first; none: they are those of the layout.
        inputs: every file that the layout names.
    """
    import pandas

    from reprlab.artifacts.tables import read_tsv, write_tsv
    from reprlab.models.build import quiet_transformers
    from reprlab.reporting.cost import cost_table
    from reprlab.reporting.provenance import write_provenance

    # Kernels that are missing here would be named; it is they that are counted.
    quiet_transformers()
    table = cost_table(layout, scale, benchmarks)
    known = [] if published is None else [read_tsv(published)]
    write_tsv(out, pandas.concat([*known, table]).astype(object) if known else table)
    read = [*(inputs or []), *([published] if published else [])]
    write_provenance(out, stage="estimate_cost", settings=layout.model_dump(mode="json"), inputs=read)


if __name__ == "__main__":
    run_stage(estimate_cost)
