"""Test whether one set of answers to pairs of events scores higher than another, by seed, over documents."""

from pathlib import Path

from reprlab.events.settings import AnswerContrast
from reprlab.runtime.cli import run_stage


def contrast_answers(
    *, examples: Path, first: list[Path], second: list[Path], out: Path, settings: AnswerContrast
) -> None:
    """Write `out`, the differences of scores of each seed, with intervals and p over the test documents of all folds.

    Args:
        examples: documents with events.
        first: answers of each fold, in the order of `settings.tested`; the second ones are subtracted.

    Raises:
        ReprlabError: unreadable inputs.
    """
    import numpy as np
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.events.contrasts import answer_tables, contrast_rows
    from reprlab.events.documents import load_events
    from reprlab.events.rankings import selected
    from reprlab.events.scoring import ROW

    documents = load_events(examples)[0]
    folds = [selected(documents, settings.events.model_copy(update={"fold": fold}))["test"] for fold in settings.tested]
    rows = []
    for seed in settings.seeds:
        one, other = (
            np.concatenate([answer_tables(path, seed, of, settings) for path, of in zip(paths, folds, strict=True)])
            for paths in (first, second)
        )
        rows += [{"seed": seed, "k": settings.k, **row} for row in contrast_rows(one, other, settings)]
    write_tsv(out, pandas.DataFrame(rows, columns=ROW))


if __name__ == "__main__":
    run_stage(contrast_answers)
