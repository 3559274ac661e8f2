"""Coreference by rules alone: the same name is the same person."""

from pathlib import Path

from reprlab.coreference.settings import SegmentSettings
from reprlab.runtime.cli import run_stage


def link_names(*, examples: Path, out: Path, settings: SegmentSettings, resamples: int = 1000) -> None:
    """Write `out`: scores of the rules on the validation split, over the documents that models are scored on.

    Args:
        examples: table of the kind `coreference`.
        resamples: bootstrap samples over documents behind the intervals.

    Raises:
        ReprlabError: the table is of another kind or has no validation split.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.baselines.clusters import RULES
    from reprlab.coreference.rows import read_texts
    from reprlab.coreference.scoring import rule_rows
    from reprlab.coreference.segments import chosen_texts

    texts = chosen_texts(read_texts(examples), settings)["validation"]
    write_rows(
        out,
        [
            row
            for name, rule in RULES.items()
            for row in rule_rows(name, texts, rule, singletons=settings.singletons, resamples=resamples)
        ],
    )


if __name__ == "__main__":
    run_stage(link_names)
