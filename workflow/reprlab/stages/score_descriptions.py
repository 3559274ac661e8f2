"""Score descriptions by BLEU, ROUGE-L and BERTScore, beside those of other tracks."""

from pathlib import Path

from reprlab.music.settings import DescriptionScoring
from reprlab.runtime.cli import run_stage


def score_descriptions(
    *, descriptions: Path, annotations: list[Path], model: Path, out: Path, settings: DescriptionScoring
) -> None:
    """Write `out`: rows of `model` and of `another track's`, the description of a training track, in percent.

    Args:
        model: the encoder behind BERTScore.

    Raises:
        ReprlabError: unreadable inputs.
    """
    import json

    from reprlab.artifacts.tables import read_parquet
    from reprlab.artifacts.tsv import write_rows
    from reprlab.evaluation.generated_texts import score_rows
    from reprlab.music.forms import description_problem

    found = read_parquet(descriptions, ["track", "target", "text", "steps", "tokens"]).to_pydict()
    known = [
        row
        for path in annotations
        for row in read_parquet(path, ["track", "split", "description", "frames"]).to_pylist()
    ]
    others = [row["description"] for row in sorted(known, key=lambda row: row["track"]) if row["split"] == "train"]
    frames = {row["track"]: len(json.loads(row["frames"])) for row in known}
    answers = {
        "model": found["text"],
        "another track's": [others[place % len(others)] for place in range(len(found["text"]))],
    }
    rows = []
    for name, texts in answers.items():
        effort = (
            {"steps": found["steps"][0], "tokens": found["tokens"][0]} if name == "model" else {"steps": 0, "tokens": 0}
        )
        scores = score_rows(
            found["target"], texts, model, settings.max_length, resamples=settings.resamples, seed=settings.seed
        )
        shares = {
            "well_formed": [
                not description_problem(text, frames[track]) for track, text in zip(found["track"], texts, strict=True)
            ],
            "empty": [not text for text in texts],
        }
        scores += [
            {"metric": metric, "value": 100 * sum(each) / len(each), "n": len(each)} for metric, each in shares.items()
        ]
        rows += [{"name": name, "split": "test", **row, **effort} for row in scores]
    write_rows(out, [{"low": "", "high": "", **row} for row in rows])


if __name__ == "__main__":
    run_stage(score_descriptions)
