"""Score what a model wrote for pairs: so that metrics can be run again alone."""

from pathlib import Path
from typing import Any

from reprlab.runtime.cli import run_stage
from reprlab.structure.seq2seq_settings import PairScoring


def score_seq2seq(
    *, answers: Path, out: Path, settings: PairScoring, training: Path | None = None, seen: Path | None = None
) -> None:
    """Write `out`, one row for each task and measure, in percent, with 95 % intervals over examples.

    Args:
        answers: what was asked and answered.
        training: losses of the model's training, for its steps and tokens; none where it was not trained here.
        seen: pairs of which those for training fit the lookup of words; none leaves its column empty.

    Raises:
        ReprlabError: unreadable inputs.
    """
    import pandas

    from reprlab.artifacts.tables import read_tsv, write_tsv
    from reprlab.structure.answers import read_answers
    from reprlab.structure.pair_scores import COLUMNS, score_rows

    effort: dict[str, int] = {}
    if training is not None:
        done = read_tsv(training)[["step", "tokens"]]
        last = done[done["step"] <= (done["step"].max() if settings.step is None else settings.step)].iloc[-1]
        effort = {"steps": int(last["step"]), "tokens": int(last["tokens"])}
    found: Any = read_answers(answers)
    known = {} if seen is None else _lookups(seen)
    texts = ("source", "target", "prediction")
    rows = [
        {"task": task, "split": split, **effort, **row}
        for (task, split), part in found.groupby(["task", "split"], sort=False)
        for sources, gold, written in [[part[name].tolist() for name in texts]]
        for row in score_rows(task, sources, gold, written, settings, known.get(task))
    ]
    write_tsv(out, pandas.DataFrame(rows, columns=COLUMNS))


def _lookups(seen: Path) -> dict[str, Any]:
    from reprlab.artifacts.tables import read_parquet
    from reprlab.structure.lookups import fitted

    rows = read_parquet(seen, ["task", "split", "source", "targets"]).to_pandas()
    rows = rows[rows["split"] == "train"]
    by_task = rows.groupby("task", sort=False)
    return {
        task: fitted(task, part["source"].tolist(), [" ".join(one[0].split()) for one in part["targets"]])
        for task, part in by_task
    }


if __name__ == "__main__":
    run_stage(score_seq2seq)
