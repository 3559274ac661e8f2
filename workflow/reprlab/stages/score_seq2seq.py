"""Score what a model wrote for pairs: so that metrics can be run again alone."""

from pathlib import Path
from typing import Any

from reprlab.runtime.cli import run_stage
from reprlab.structure.seq2seq_settings import PairScoring


def score_seq2seq(
    *, answers: Path, out: Path, settings: PairScoring, training: Path | None = None, seen: Path | None = None
) -> None:
    """Write `out`, one row for each task and measure, in percent, with 95 % intervals over examples.

    Rows of `model` are beside those of the baselines that are declared for the task, and `seen` counts the texts that
    hold an item of training (or whose answer is one of training's).

    Args:
        answers: what was asked and answered.
        training: losses of the model's training, for its steps and tokens; none where it was not trained here.
        seen: pairs of which those for training fit the baselines; none leaves them out.

    Raises:
        ReprlabError: unreadable inputs.
    """
    import pandas

    from reprlab.artifacts.tables import read_tsv, write_tsv
    from reprlab.baselines.pairs import fitted, seen_in_training
    from reprlab.structure.answers import read_answers
    from reprlab.structure.pair_scores import COLUMNS, MODEL, score_rows

    effort: dict[str, int] = {}
    if training is not None:
        done = read_tsv(training)[["step", "tokens"]]
        last = done[done["step"] <= (done["step"].max() if settings.step is None else settings.step)].iloc[-1]
        effort = {"steps": int(last["step"]), "tokens": int(last["tokens"])}
    found: Any = read_answers(answers)
    known = {} if seen is None else _pairs(seen)
    rows = []
    for (task, split), part in found.groupby(["task", "split"], sort=False):
        sources, gold, written = (part[name].tolist() for name in ("source", "target", "prediction"))
        about: dict[str, Any] = {"task": task, "split": split}
        said = {MODEL: written}
        if task in known:
            said |= {name: [answer(one) for one in sources] for name, answer in fitted(task, *known[task]).items()}
            about["seen"] = seen_in_training(task, *known[task], sources, gold)
        for name, texts in said.items():
            own = effort if name == MODEL else dict.fromkeys(effort, 0)
            rows += [{"name": name, **about, **own, **row} for row in score_rows(task, sources, gold, texts, settings)]
    write_tsv(out, pandas.DataFrame(rows, columns=COLUMNS).astype({"seen": "Int64"}))


def _pairs(seen: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Sources and targets of training by task."""
    from reprlab.artifacts.tables import read_parquet

    rows = read_parquet(seen, ["task", "split", "source", "targets"]).to_pandas()
    by_task = rows[rows["split"] == "train"].groupby("task", sort=False)
    return {
        task: (part["source"].tolist(), [" ".join(one[0].split()) for one in part["targets"]]) for task, part in by_task
    }


if __name__ == "__main__":
    run_stage(score_seq2seq)
