"""Number of entities in a data set of tagged sentences."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def count_entities(*, examples: Path, out: Path) -> None:
    """Write a TSV with the columns split, metric, value, n: entities and sentences of each split."""
    from reprlab.artifacts.tsv import write_rows
    from reprlab.data.schema import read_rows
    from reprlab.evaluation.entities import entities

    found: dict[str, list[int]] = {}
    table, _ = read_rows(examples, "tags")
    for split, tags in zip(table["split"].to_pylist(), table["tags"].to_pylist(), strict=True):
        found.setdefault(split, []).append(len(entities(tags)))
    write_rows(
        out,
        [{"split": split, "metric": "entities", "value": sum(each), "n": len(each)} for split, each in found.items()],
    )


if __name__ == "__main__":
    run_stage(count_entities)
