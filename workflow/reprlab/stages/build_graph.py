"""A knowledge graph from a corpus of assertions."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def build_graph(*, documents: Path, out: Path) -> None:
    """Write the undirected graph of the concepts in `documents` (see `ConceptGraph.of_assertions`) as Parquet.

    Raises:
        ReprlabError: it has no edge.
    """
    from itertools import chain

    from reprlab.concepts.graph import ConceptGraph
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.log import get_logger
    from reprlab.text.parquet_batches import read_batches

    texts = (batch["text"].to_pylist() for batch in read_batches(documents, ["text"], 10_000))
    graph = ConceptGraph.of_assertions(chain.from_iterable(texts))
    if not graph.adjacency.nnz:
        raise ReprlabError(f"{documents}: no two concepts are neighbours; name a corpus of assertions as the graph")
    graph.save(out)
    get_logger().info("%d concepts, %d edges", len(graph.concepts), graph.adjacency.nnz // 2)


if __name__ == "__main__":
    run_stage(build_graph)
