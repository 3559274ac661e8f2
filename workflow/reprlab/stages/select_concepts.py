"""The basic concepts: hubs of a graph that the domain often names."""

from pathlib import Path

from reprlab.concepts.settings import BasicSettings
from reprlab.runtime.cli import run_stage


def select_concepts(*, graph: Path, domain: Path, out: Path, settings: BasicSettings) -> None:
    """Write S, a concept a line, the highest degree first (Kohli et al. 2025, section 3).

    Raises:
        ReprlabError: no concept occurs so often in the domain.
    """
    from reprlab.concepts.curriculum import basic_concepts
    from reprlab.concepts.files import read_counts, write_concepts
    from reprlab.concepts.graph import ConceptGraph
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.log import get_logger

    known = ConceptGraph.load(graph)
    counts = read_counts(domain, known)
    found = basic_concepts(known, counts, settings.frequency, settings.basic)
    if not len(found):
        raise ReprlabError(
            f"frequency: no concept of the graph occurs more than {settings.frequency} times in the domain (at most "
            f"{counts.max()}); lower it, or take more text"
        )
    write_concepts(out, [known.concepts[one] for one in found])
    get_logger().info("%d of at most %d basic concepts", len(found), settings.basic)


if __name__ == "__main__":
    run_stage(select_concepts)
