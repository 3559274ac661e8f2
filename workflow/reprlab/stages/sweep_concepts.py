"""Sizes of a curriculum for other values of each threshold."""

from pathlib import Path

from reprlab.concepts.settings import SweepSettings
from reprlab.runtime.cli import run_stage


def sweep_concepts(*, graph: Path, domain: Path, general: Path, out: Path, settings: SweepSettings) -> None:
    """Write a TSV with the columns threshold, setting, step, metric, value: one threshold is changed at a time."""
    from reprlab.artifacts.tsv import write_rows
    from reprlab.concepts.curriculum import Counts, sweep
    from reprlab.concepts.files import read_counts
    from reprlab.concepts.graph import ConceptGraph

    known = ConceptGraph.load(graph)
    counts = Counts(domain=read_counts(domain, known), general=read_counts(general, known))
    write_rows(out, list(sweep(known, counts, settings)))


if __name__ == "__main__":
    run_stage(sweep_concepts)
