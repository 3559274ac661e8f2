"""Count the parameters of models with a classification head, without weights and without the network."""

from pathlib import Path

from reprlab.models.sizes import SizedModels
from reprlab.runtime.cli import run_stage


def count_parameters(*, models: SizedModels, out: Path) -> None:
    """Write one row per model: vocabulary, width, parameters of the input embedding and of the whole, layers, heads.

    Args:
        models: registry entries by name, and the outputs of the head.
        out: the TSV.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.models.counting import classifier_sizes
    from reprlab.models.sizes import heads_of, layers_of

    rows = []
    for name, entry in models.entries.items():
        sizes = classifier_sizes(entry, models.labels)
        rows.append(
            {
                "name": name,
                "vocabulary": sizes.vocabulary,
                "width": sizes.width,
                "embedding": sizes.embedding,
                "total": sizes.total,
                "layers": layers_of(entry),
                "heads": heads_of(entry),
            }
        )
    write_tsv(out, pandas.DataFrame(rows))


if __name__ == "__main__":
    run_stage(count_parameters)
