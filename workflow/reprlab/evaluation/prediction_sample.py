"""Predictions put out for annotation by hand, and the share that are not labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

_STRICT = ConfigDict(extra="forbid", frozen=True)
_TEXTS = ("text", "text_a", "text_b", "sentences", "source", "question", "context")
_FIRST = ["task", "init", "model", "step", "id", "text", "label", "prediction", "correct", "outside_label", "category"]
COLUMNS = [*_FIRST, "outside_share", "scale", "seed", "n", "steps", "tokens", "data_task", "note"]
_NOTE = "category is for the annotator; the paper's annotations were made by hand"


class SampledModel(BaseModel):
    """A fine-tuned model on one task."""

    model_config = _STRICT

    about: dict[str, str | int]
    """Its factors in each row: task, init, model, step, seed, data_task."""
    name: str
    """Its name in metrics and predictions."""
    metrics: Path
    """metrics.tsv of its fine-tuning jobs."""
    predictions: list[Path] = Field(min_length=1)
    """predictions.parquet of the same jobs."""
    selection: Path
    """selected.json."""
    examples: Path
    """examples.parquet of the task, for the text."""
    labels: list[str] = []
    """Labels of the task; empty where targets are free text."""
    split: str = "validation"
    """Split that is sampled."""


class SampleSettings(BaseModel):
    """Sources and size of the sample."""

    model_config = _STRICT

    scale: str
    """Scale of the run."""
    models: list[SampledModel]
    """Models of one task get the same examples."""
    examples: int = Field(default=30, ge=1)
    """Predictions of each model."""
    seed: int = Field(default=0, ge=0)
    """Seed of the sample."""


def sample_rows(settings: SampleSettings) -> pandas.DataFrame:
    """Sampled predictions of each model at its selected learning rate, `category` left empty.

    `outside_share` is the share of all `n` predictions of the split that are not labels of the task, sampled or
    not. Of several ways to predict, the first in the file is sampled.

    Raises:
        ReprlabError: a model has no prediction, or no selected learning rate.
    """
    import pandas

    rows = [row for model in settings.models for row in _rows(model, settings)]
    return pandas.DataFrame(rows, columns=COLUMNS)


def _rows(model: SampledModel, settings: SampleSettings) -> Iterator[dict[str, Any]]:
    import numpy as np

    frame, labels, texts = _predictions(model), set(model.labels), _texts(model.examples)
    outside = frame["prediction"].map(lambda answer: bool(labels) and answer not in labels)
    effort = read_tsv(model.metrics).set_index("name").loc[[model.name]].iloc[0]
    ids = sorted(frame["id"].unique())
    rng = np.random.Generator(np.random.Philox(key=settings.seed))
    chosen = rng.choice(len(ids), size=min(settings.examples, len(ids)), replace=False)
    rows = frame.assign(outside=outside).set_index("id").loc[[ids[place] for place in sorted(chosen)]]
    about = model.about | {"scale": settings.scale, "n": len(frame), "outside_share": outside.mean(), "category": ""}
    about |= {"steps": int(effort["steps"]), "tokens": int(effort["tokens"]), "note": _NOTE}
    for id, row in rows.iterrows():
        yield about | {
            "id": id,
            "text": texts[str(id)],
            "label": row["label"],
            "prediction": row["prediction"],
            "correct": "yes" if row["label"] == row["prediction"] else "no",
            "outside_label": "yes" if row["outside"] else "no",
        }


def _predictions(model: SampledModel) -> pandas.DataFrame:
    import pandas

    best = read_json(model.selection).get("best", {}).get(model.name)
    if best is None:
        raise ReprlabError(
            f"{model.selection}: selects no learning rate for {model.name}; delete it and run the same command again"
        )
    frame = pandas.concat([read_parquet(path).to_pandas() for path in model.predictions], ignore_index=True)
    chosen = (frame["name"] == model.name) & (frame["split"] == model.split)
    frame = frame[chosen & (frame["learning_rate"] == best["learning_rate"])]
    if frame.empty:
        raise ReprlabError(
            f"{model.predictions[0]}: no prediction of {model.name} on {model.split}; delete it and run again"
        )
    return frame[frame["eval_mode"] == frame["eval_mode"].iloc[0]].drop_duplicates("id")


def _texts(path: Path) -> dict[str, str]:
    table = read_parquet(path)
    names = [name for name in _TEXTS if name in table.column_names]
    columns = table.select(["id", *names]).to_pydict()
    joined = zip(*(columns[name] for name in names), strict=True)
    return dict(zip(columns["id"], (" | ".join(_plain(part) for part in parts) for parts in joined), strict=True))


def _plain(value: Any) -> str:
    return " | ".join(value) if isinstance(value, list) else str(value)
