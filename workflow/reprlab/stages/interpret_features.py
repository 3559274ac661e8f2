"""Explain features of a model, simulate them by the explanations, and score the simulations."""

from pathlib import Path

from reprlab.features.settings import InterpretationSettings
from reprlab.runtime.cli import run_stage


def interpret_features(
    *, features: Path, sample: Path, tokenizer: Path, links: Path, out: Path, settings: InterpretationSettings,
    cache: Path | None = None,
) -> None:  # fmt: skip
    """Write a row a feature: its explanation, the explainer, whether it persists in the child, and scores.

    `score` is the correlation of simulated and true activations on samples of the half of the blocks that was not
    explained; `score_other` is that of the explanation of another feature, `score_all` (statistics of tokens only) that
    on all blocks of that half.

    Raises:
        ReprlabError: no key in OPENAI_API_KEY, or the endpoint refuses or cannot be reached.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.features.interpretation import interpret
    from reprlab.features.sample import TokenSample
    from reprlab.features.sparse import SparseFeatures
    from reprlab.text.tokenizer_folder import open_tokenizer

    rows = interpret(
        SparseFeatures.load(features), TokenSample.load(sample), open_tokenizer(tokenizer), links, settings, cache
    )
    write_rows(out, rows)


if __name__ == "__main__":
    run_stage(interpret_features)
