"""Predictions put out for annotation by hand (Tables 3 and 4 of the paper), and the share that are no label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.papers.depth.layouts import ErrorSampleLayout, SampledRun
from reprlab.reporting.cells import selected_rate
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

_TEXTS = ("text", "text_a", "text_b", "sentences", "source", "question", "context")
_COLUMNS = [
    "task",
    "init",
    "model",
    "step",
    "id",
    "text",
    "label",
    "prediction",
    "correct",
    "outside_label",
    "category",
    "outside_share",
    "scale",
    "seed",
    "n",
    "steps",
    "tokens",
    "data_task",
    "note",
]
_NOTE = "category is for the annotator; the paper's annotations were made by hand"


def error_sample(layout: ErrorSampleLayout) -> pandas.DataFrame:
    """Sampled predictions of each run's last checkpoint at its selected learning rate, `category` left empty.

    All runs of a task get the same examples. `outside_share` is the share of all `n` predictions of the split that are
    none of the task's labels, the sampled or not.
    """
    import pandas

    rows = [row for sampled in layout.runs for row in _rows(sampled, layout)]
    return pandas.DataFrame(rows, columns=_COLUMNS)


def _rows(sampled: SampledRun, layout: ErrorSampleLayout) -> list[dict[str, Any]]:
    import numpy as np

    run = sampled.run
    checkpoint = run.checkpoints[-1]
    frame = _predictions(sampled)
    labels = set(sampled.labels)
    outside = [bool(labels) and prediction not in labels for prediction in frame["prediction"]]
    share = sum(outside) / len(frame)
    texts = _texts(sampled)
    ids = sorted(frame["id"].unique())
    rng = np.random.Generator(np.random.Philox(key=layout.seed))
    chosen = rng.choice(len(ids), size=min(layout.examples, len(ids)), replace=False)
    rows = frame.set_index("id").loc[[ids[place] for place in sorted(chosen)]]
    steps, tokens = _effort(sampled)
    return [
        {
            "task": run.task,
            "init": run.init,
            "model": run.model,
            "step": checkpoint.step,
            "id": id,
            "text": texts[str(id)],
            "label": row["label"],
            "prediction": row["prediction"],
            "correct": "yes" if row["label"] == row["prediction"] else "no",
            "outside_label": "yes" if labels and row["prediction"] not in labels else "no",
            "category": "",
            "outside_share": share,
            "scale": layout.scale,
            "seed": run.seed,
            "n": len(frame),
            "steps": steps,
            "tokens": tokens,
            "data_task": sampled.data,
            "note": _NOTE,
        }
        for id, row in rows.iterrows()
    ]


def _predictions(sampled: SampledRun) -> pandas.DataFrame:
    import pandas

    run, name = sampled.run, sampled.run.checkpoints[-1].name
    if not run.predictions:
        raise ReprlabError(f"layout of error_sample: the {run.model} run on {run.task} has no predictions; add them")
    frame = pandas.concat([read_parquet(path).to_pandas() for path in run.predictions], ignore_index=True)
    frame = frame[(frame["name"] == name) & (frame["split"] == sampled.split)]
    if run.selection is not None:
        frame = frame[frame["learning_rate"] == selected_rate(run.selection, name)]
    if frame.empty:
        raise ReprlabError(f"{run.predictions[0]}: no prediction of {name} on {sampled.split}; delete it and run again")
    return frame[frame["eval_mode"] == (sampled.eval_mode or frame["eval_mode"].iloc[0])].drop_duplicates("id")


def _effort(sampled: SampledRun) -> tuple[int, int]:
    """Fine-tuning steps and tokens of the sampled checkpoint."""
    import pandas

    frame = pandas.concat([read_tsv(path) for path in sampled.run.metrics], ignore_index=True)
    row = frame[frame["name"] == sampled.run.checkpoints[-1].name].iloc[0]
    return int(row["steps"]), int(row["tokens"])


def _texts(sampled: SampledRun) -> dict[str, str]:
    table = read_parquet(sampled.examples)
    names = [name for name in _TEXTS if name in table.column_names]
    columns = table.select(["id", *names]).to_pydict()
    joined = zip(*(columns[name] for name in names), strict=True)
    return dict(zip(columns["id"], (" | ".join(_plain(part) for part in parts) for parts in joined), strict=True))


def _plain(value: Any) -> str:
    return " | ".join(value) if isinstance(value, list) else str(value)
