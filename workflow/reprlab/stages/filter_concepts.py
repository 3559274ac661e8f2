"""The curriculum: what is near the basic concepts, less what is common in general text or absent from the domain."""

from pathlib import Path

from reprlab.concepts.settings import CurriculumSettings
from reprlab.runtime.cli import run_stage


def filter_concepts(
    *,
    graph: Path,
    basic: Path,
    expanded: Path,
    domain: Path,
    general: Path,
    out: Path,
    record: Path,
    metrics: Path,
    settings: CurriculumSettings,
) -> None:
    """Write C, a concept a line in alphabetical order, and how many concepts are left after every step.

    Args:
        record: curriculum.json: the thresholds, those of the earlier stages too, and the sizes.
        metrics: the sizes as a TSV with the columns step, metric, value.

    Raises:
        ReprlabError: no concept is left.
    """
    import numpy as np

    from reprlab.artifacts.json_files import write_json
    from reprlab.artifacts.tables import read_parquet
    from reprlab.artifacts.tsv import write_rows
    from reprlab.concepts.curriculum import Counts, kept_concepts
    from reprlab.concepts.files import ids_of, read_concepts, read_counts, write_concepts
    from reprlab.concepts.graph import ConceptGraph
    from reprlab.runtime.errors import ReprlabError

    known = ConceptGraph.load(graph)
    counts = Counts(domain=read_counts(domain, known), general=read_counts(general, known))
    reached = np.zeros(len(known.concepts), dtype=bool)
    reached[ids_of(read_parquet(expanded, ["concept"])["concept"].to_pylist(), known, expanded)] = True
    rare, kept = kept_concepts(reached, counts, settings)
    sizes = {
        "graph": len(known.concepts),
        "frequent": int((counts.domain > settings.frequency).sum()),
        "basic": len(read_concepts(basic, known)),
        "expanded": int(reached.sum()),
        "after_general": int(rare.sum()),
        "after_domain": int(kept.sum()),
    }
    if not kept.any():
        raise ReprlabError(
            f"general_limit, domain_least: no concept is left ({', '.join(f'{k} {v}' for k, v in sizes.items())}); "
            "raise the one, lower the other, or take more hops"
        )
    write_json(record, {"settings": settings.model_dump(), "sizes": sizes})
    write_rows(metrics, [{"step": step, "metric": "concepts", "value": size} for step, size in sizes.items()])
    write_concepts(out, [known.concepts[one] for one in np.flatnonzero(kept)])


if __name__ == "__main__":
    run_stage(filter_concepts)
