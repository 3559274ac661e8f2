"""Score answers to prompts with label words that need no model."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def score_prompt_baselines(*, training: Path, prompts: Path, out: Path) -> None:
    """Write `out`, a row for each declared baseline: accuracy in percent with its interval over prompts.

    Args:
        training: prompts without demonstrations, with their labels, that the baselines are fitted on.
        prompts: those that they answer, without demonstrations.

    Raises:
        ReprlabError: unreadable prompts.
    """
    from typing import Any

    from reprlab.artifacts.tables import read_parquet
    from reprlab.artifacts.tsv import write_rows
    from reprlab.baselines.declared import declared
    from reprlab.baselines.examples import gold_of, predict_baseline
    from reprlab.evaluation.examples import ExampleTable
    from reprlab.evaluation.scoring import score_rows

    def table(path: Path) -> ExampleTable:
        found = read_parquet(path, ["id", "prompt", "label"]).to_pydict()
        columns: dict[str, list[Any]] = {"id": found["id"], "text": found["prompt"], "label": found["label"]}
        return ExampleTable(path, "single", tuple(sorted(set(found["label"]))), columns)

    first, second = table(training), table(prompts)
    gold = gold_of(second)
    rows = []
    for name in declared("class"):
        answers = predict_baseline(name, first, second, first.labels, 0)
        scored = score_rows(["accuracy"], gold, answers, (), [""] * len(gold))
        rows += [{"name": name, **{key: row[key] for key in ("metric", "value", "low", "high", "n")}} for row in scored]
    write_rows(out, rows)


if __name__ == "__main__":
    run_stage(score_prompt_baselines)
