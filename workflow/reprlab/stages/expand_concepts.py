"""The concepts near the basic ones."""

from pathlib import Path

from reprlab.concepts.settings import ExpansionSettings
from reprlab.runtime.cli import run_stage


def expand_concepts(*, graph: Path, basic: Path, out: Path, settings: ExpansionSettings) -> None:
    """Write Parquet with the columns concept and distance: all within the hops, the basic ones at 0."""
    import numpy as np
    import pyarrow

    from reprlab.artifacts.tables import write_parquet
    from reprlab.concepts.files import read_concepts
    from reprlab.concepts.graph import UNREACHED, ConceptGraph

    known = ConceptGraph.load(graph)
    distances = known.distances(read_concepts(basic, known), settings.hops)
    reached = np.flatnonzero(distances != UNREACHED)
    columns = {"concept": [known.concepts[one] for one in reached], "distance": distances[reached]}
    write_parquet(out, pyarrow.table(columns))


if __name__ == "__main__":
    run_stage(expand_concepts)
