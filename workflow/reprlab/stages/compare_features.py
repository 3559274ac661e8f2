"""Compare the features of models: which persist, emerge or disappear, with the controls that say what it means."""

from pathlib import Path

from reprlab.features.settings import FeatureComparison
from reprlab.runtime.cli import run_stage


def compare_features(*, sample: Path, out: Path, links: Path, settings: FeatureComparison) -> None:
    """Write counts of every pair as metric and value, and the links behind them as Parquet.

    `positions` is all, or inner: without the first of each block and the tokens between texts. All models must have
    been encoded on this sample.
    """
    import pyarrow

    from reprlab.artifacts.tables import write_parquet
    from reprlab.artifacts.tsv import write_rows
    from reprlab.features.comparison import compare_models
    from reprlab.features.sample import TokenSample

    found = compare_models(settings, TokenSample.load(sample).inner)
    write_rows(out, found.counts)
    write_parquet(links, pyarrow.table(found.links))


if __name__ == "__main__":
    run_stage(compare_features)
