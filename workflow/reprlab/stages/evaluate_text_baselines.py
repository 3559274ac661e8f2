"""Score vectors of texts that no model made on tasks of the MTEB categories."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.sentences.settings import TaskScores


def evaluate_text_baselines(*, tasks: list[Path], out: Path, settings: TaskScores) -> None:
    """Write `out`, a row for each task and baseline: main score in percent, interval, number of units.

    Args:
        tasks: examples, in the order of the settings' tasks.

    Raises:
        ReprlabError: unreadable inputs, or examples of another kind than a task needs.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.baselines.vectors import score_baselines
    from reprlab.runtime.progress import track

    seed = settings.seeds[0]
    given = list(zip(tasks, settings.tasks, strict=True))
    rows = [row for path, task in track(given, "tasks") for row in score_baselines(path, task, settings, seed)]
    about = {"seed": seed, "layers": 0, "parameters": 0, "steps": 0, "tokens": 0}
    write_rows(out, [{"name": row["name"], **about, **row} for row in rows])


if __name__ == "__main__":
    run_stage(evaluate_text_baselines)
