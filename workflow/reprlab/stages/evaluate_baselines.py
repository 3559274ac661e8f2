"""Score trivial baselines on a table of examples."""

from pathlib import Path

from reprlab.evaluation.settings import BaselineSettings
from reprlab.runtime.cli import run_stage


def evaluate_baselines(*, examples: Path, out: Path, settings: BaselineSettings) -> None:
    """Fit each baseline on the training split and write its scores, in the columns of `finetune_model`'s metrics.

    Rows have the baseline's name, learning rate, steps and tokens 0 and eval_mode `baseline`, and in `seen` how many of
    the scored examples training has the answer of, where answers are texts or tags.

    Raises:
        ReprlabError: unreadable examples, labels outside the set, or a baseline that does not suit the examples.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.baselines.examples import gold_of, predict_baseline, seen_in_training
    from reprlab.evaluation.examples import TRAIN, common_labels, load_examples
    from reprlab.evaluation.scoring import METRIC_COLUMNS, score_rows

    limits = dict.fromkeys(settings.splits, settings.eval_limit) | {TRAIN: settings.train_limit}
    tables = load_examples(examples, [TRAIN, *settings.splits], limits)
    labels = common_labels(tables, [])
    rows = []
    seen = {split: seen_in_training(tables[TRAIN], tables[split]) for split in settings.splits}
    for name in settings.baselines:
        about = {"name": name, "learning_rate": 0.0, "steps": 0, "tokens": 0, "eval_mode": "baseline", "diverged": 0}
        for split in settings.splits:
            table = tables[split]
            found = predict_baseline(name, tables[TRAIN], table, labels, settings.seed)
            scored = score_rows(
                settings.metrics,
                gold_of(table),
                found,
                labels,
                table.subsets,
                resamples=settings.resamples,
                seed=settings.seed,
            )
            counted = [seen[split] if row["subset"] == "" else None for row in scored]
            rows += [{**about, "split": split, **row, "seen": n} for row, n in zip(scored, counted, strict=True)]
    write_tsv(out, pandas.DataFrame(rows, columns=[*METRIC_COLUMNS, "seen"]).astype({"seen": "Int64"}))


if __name__ == "__main__":
    run_stage(evaluate_baselines)
