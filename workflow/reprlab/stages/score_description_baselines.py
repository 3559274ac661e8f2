"""Score descriptions that need no model, on the tracks that models describe."""

from pathlib import Path

from reprlab.music.settings import DescriptionScoring
from reprlab.runtime.cli import run_stage


def score_description_baselines(
    *, annotations: list[Path], model: Path, out: Path, settings: DescriptionScoring, limit: int | None = None
) -> None:
    """Write `out`: rows of each declared baseline, fitted on the tracks of training, in percent.

    `seen` counts the scored tracks whose genre tags, type and lyrics are all those of one track of training.

    Args:
        model: the encoder behind BERTScore.
        limit: tracks of the test split that are scored, the first ones; none: all.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.baselines.descriptions import INPUTS, described
    from reprlab.baselines.seen import sharing
    from reprlab.music.description_scores import annotated, description_rows

    rows = annotated(annotations)
    training, tracks = ([row for row in rows if row["split"] == split] for split in ("train", "test"))
    tracks = tracks[:limit]
    seen = sharing(*([[tuple(one[name] for name in INPUTS)] for one in part] for part in (training, tracks)))
    about = {"split": "test", "seen": seen, "steps": 0, "tokens": 0}
    targets = [one["description"] for one in tracks]
    write_rows(
        out,
        [
            {"name": name, **about, **row}
            for name, texts in described(training, tracks).items()
            for row in description_rows(targets, texts, tracks, model, settings)
        ],
    )


if __name__ == "__main__":
    run_stage(score_description_baselines)
