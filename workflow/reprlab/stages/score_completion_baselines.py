"""Score answers to prompts that need no model."""

from pathlib import Path

from reprlab.evaluation.completion_settings import CompletionBaselines
from reprlab.runtime.cli import run_stage


def score_completion_baselines(*, out: Path, settings: CompletionBaselines) -> None:
    """Write `out`, a row for each evaluation set and declared baseline, in percent, in the usual format of prompts.

    They are fitted on the training set of the same task; where there is none, on the solved examples.

    Raises:
        ReprlabError: unreadable prompts.
    """
    from typing import Any

    from reprlab.artifacts.tsv import write_rows
    from reprlab.baselines.completions import answered
    from reprlab.evaluation.completion_scores import answer_scores, bootstrap_mean
    from reprlab.text.completions import read_completions

    rows = []
    for name, one in settings.sets.items():
        known, about = read_completions(one.prompts)
        known = [row for row in known if row["fmt"] == "default"]
        tests, shots = ([row for row in known if row["role"] == role] for role in ("test", "shot"))
        given = read_completions(one.training)[0] if one.training else []
        training = [row for row in given if row["role"] == "train" and row["completion"]] or shots
        kind = about["kind"]
        gold = [str(row["answer"]) if kind == "choice" else row["completion"] for row in tests]
        found, seen = answered(one.prompts, kind, training or [{"id": "", "prompt": "", "completion": ""}], tests)
        for baseline, answers in found.items():
            scores = bootstrap_mean(answer_scores(kind, gold, answers), settings.bootstrap, settings.seed)
            row: dict[str, Any] = {
                "name": baseline,
                "eval": name,
                "metric": "rougeL" if kind == "generation" else "accuracy",
            }
            row |= {bound: 100 * scores[bound] for bound in ("value", "low", "high")}
            rows.append({**row, "n": len(tests), "seen": "" if seen is None else seen})
    write_rows(out, rows)


if __name__ == "__main__":
    run_stage(score_completion_baselines)
