"""Frequency of each concept of a graph in some corpora."""

from pathlib import Path

from reprlab.concepts.settings import CountingSettings
from reprlab.runtime.cli import run_stage

_DOCUMENTS = 2_000


def count_concepts(*, graph: Path, documents: list[Path], out: Path, settings: CountingSettings) -> None:
    """Write Parquet with the columns concept and count, in the order of the graph, from one pass over the corpora.

    Counted are runs of one to four lower-case words, overlapping ones too (Lee et al. 2022).
    """
    import numpy as np
    import pyarrow
    import pyarrow.compute

    from reprlab.artifacts.tables import read_parquet, write_parquet
    from reprlab.concepts.matching import LONGEST, ConceptMatcher
    from reprlab.runtime.log import get_logger
    from reprlab.runtime.progress import track
    from reprlab.text.parquet_batches import read_batches

    concepts = read_parquet(graph, ["concept"])["concept"].to_pylist()
    matcher = ConceptMatcher(concepts)
    get_logger().info("%d of %d concepts are longer than %d words", matcher.lost, len(concepts), LONGEST)
    counts = np.zeros(len(concepts), dtype=np.int64)
    for path in documents:
        for batch in track(
            read_batches(path, ["split", "text"], _DOCUMENTS), f"{path.parent.name}, two thousand texts"
        ):
            chosen = batch.filter(pyarrow.compute.equal(batch["split"], settings.split))
            counts += matcher.count(chosen["text"].to_pylist())
    write_parquet(out, pyarrow.table({"concept": concepts, "count": counts}))


if __name__ == "__main__":
    run_stage(count_concepts)
