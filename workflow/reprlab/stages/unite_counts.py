"""Count the tokens that several data sets and splits use together."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.text.vocabulary_use import UseSettings


def unite_counts(*, settings: UseSettings, out: Path) -> None:
    """Write the rows of `vocabulary_use`.

    Args:
        settings: the counts, which `count_tokens` made, and the unions of splits.
        out: TSV with the columns model, column, splits, token, n, tokens, metric, value.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.text.vocabulary_use import vocabulary_use

    columns = ["model", "column", "splits", "token", "n", "tokens", "metric", "value"]
    write_tsv(out, pandas.DataFrame(vocabulary_use(settings), columns=columns))


if __name__ == "__main__":
    run_stage(unite_counts)
