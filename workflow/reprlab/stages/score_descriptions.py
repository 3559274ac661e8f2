"""Score descriptions by BLEU, ROUGE-L and BERTScore."""

from pathlib import Path

from reprlab.music.settings import DescriptionScoring
from reprlab.runtime.cli import run_stage


def score_descriptions(
    *, descriptions: Path, annotations: list[Path], model: Path, out: Path, settings: DescriptionScoring
) -> None:
    """Write `out`: rows of `model`, in percent.

    Args:
        model: the encoder behind BERTScore.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.artifacts.tables import read_parquet
    from reprlab.artifacts.tsv import write_rows
    from reprlab.music.description_scores import annotated, description_rows

    found = read_parquet(descriptions, ["track", "target", "text", "steps", "tokens"]).to_pydict()
    known = {row["track"]: row for row in annotated(annotations)}
    tracks = [known[track] for track in found["track"]]
    effort = {"steps": found["steps"][0], "tokens": found["tokens"][0]}
    rows = description_rows(found["target"], found["text"], tracks, model, settings)
    write_rows(out, [{"name": "model", "split": "test", **row, **effort} for row in rows])


if __name__ == "__main__":
    run_stage(score_descriptions)
