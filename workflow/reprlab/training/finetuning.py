"""Fine-tuning of one checkpoint with one learning rate: a cell that resumes exactly and is kept when it is done."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.kept import Kept
from reprlab.evaluation.examples import TRAIN, ExampleTable, common_labels, load_examples
from reprlab.evaluation.scoring import score_rows
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger
from reprlab.runtime.seals import content_digest
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.training.embedding_ways import reduce_embedding
from reprlab.training.engine import train
from reprlab.training.finetuning_heads import EncoderHead
from reprlab.training.finetuning_order import TrainingOrder
from reprlab.training.finetuning_settings import FinetuneSettings
from reprlab.training.finetuning_spans import AnswerSpans
from reprlab.training.finetuning_text import TextToText
from reprlab.training.fingerprints import run_fingerprint
from reprlab.training.settings import EngineSettings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class PreparedTask:
    """A task with its splits as tables and as arrays."""

    task: TextToText | EncoderHead
    tokenizer: Path
    labels: tuple[str, ...]
    tables: dict[str, ExampleTable]
    encoded: dict[str, Any]


def prepare_task(examples: Path, tokenizer: Path, settings: FinetuneSettings) -> PreparedTask:
    """Read and tokenise all splits once, for all cells.

    Raises:
        ReprlabError: unreadable files, labels outside the set, or a template that does not fit the examples.
    """
    limits = dict.fromkeys(settings.splits, settings.eval_limit) | {TRAIN: settings.train_limit}
    tables = load_examples(examples, [TRAIN, *settings.splits], limits, per_task=settings.train_limit_per_task)
    labels = common_labels(tables, settings.task.labels)
    family = {"text_to_text": TextToText, "spans": AnswerSpans}.get(settings.task.kind, EncoderHead)
    task: Any = family(settings.task, labels, open_tokenizer(tokenizer), tokenizer)
    encoded = {split: task.encode(table) for split, table in tables.items()}
    return PreparedTask(task, tokenizer, labels, tables, encoded)


def engine_settings(settings: FinetuneSettings, learning_rate: float, examples: int) -> EngineSettings:
    """The training loop of one cell: its learning rate, and its steps where they follow from `epochs`."""
    engine = settings.engine
    steps = engine.steps if settings.epochs is None else math.ceil(settings.epochs * examples / engine.batch_size)
    optimizer = engine.optimizer.model_copy(update={"learning_rate": learning_rate})
    return engine.model_copy(update={"optimizer": optimizer, "steps": steps, "ladder": []})


def finetune_cell(
    prepared: PreparedTask,
    settings: FinetuneSettings,
    model: Path,
    name: str,
    learning_rate: float,
    *,
    work: Path,
    save_every: int,
    fingerprint: str,
    device: str,
    evaluation_batch: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Fine-tune, predict and score: (rows of metrics, rows of predictions). A finished cell in `work` is read back.

    Of several processes, only the main one predicts; the others return no rows.

    Args:
        work: folder of this cell; holds the resume points while it trains and `cell.json` afterwards, and the folder
            `model` where the settings keep it (with PEMA the reduced one).
        fingerprint: identity of everything that the cell depends on.
        evaluation_batch: examples per batch of predictions; it does not change the result.
    """
    done, kept, by = Kept(work, "a finished cell", "cell.json"), work / "model", {"fingerprint": fingerprint}
    cell = done.read(by)
    if cell and (not settings.keep or (kept.is_dir() and content_digest(kept) == cell["model"])):
        get_logger().info("%s at learning rate %g: finished before", name, learning_rate)
        return cell["metrics"], cell["predictions"]
    import torch

    data = prepared.encoded[TRAIN]
    engine = engine_settings(settings, learning_rate, len(data))
    lengths = data.inputs.lengths if settings.group_by_length else None
    order = TrainingOrder(len(data), engine.batch_size, engine.seed, lengths)
    torch.manual_seed(engine.seed)
    network = prepared.task.load(model, settings.dropout)
    way = reduce_embedding(prepared.task, prepared.encoded, settings.embedding, network)
    data = way.trained(data)

    def batch_of(step: int, part: int, rank: int, world: int) -> dict[str, torch.Tensor]:
        share = order.rows(step)[rank * engine.accumulation + part :: world * engine.accumulation]
        return prepared.task.batch(data, share)

    run = train(
        network,
        batch_of,
        prepared.task.loss,
        engine,
        work=work,
        save_every=save_every,
        fingerprint=fingerprint,
        on_checkpoint=lambda step, model: None,
        device=device,
    )
    if not run.is_main:
        return [], []
    if settings.keep:
        way.keep(network, prepared.tokenizer, kept)
    way.finish(network, lambda: prepared.task.load(model, settings.dropout))
    network.eval()
    about = {"name": name, "learning_rate": learning_rate}
    counts = {"steps": run.step, "tokens": run.tokens, "diverged": int(run.diverged_at is not None)}
    metrics, predictions = [], []
    for split in settings.splits:
        shown = way.scored(prepared.encoded[split])
        for mode in _modes(settings):
            found = _predict(prepared, network, shown, mode, evaluation_batch, engine.dtype)
            table = prepared.tables[split]
            gold = shown.gold
            rows = score_rows(
                settings.task.metrics, gold, found, prepared.labels, table.subsets, resamples=settings.resamples
            )
            metrics += [{**about, "split": split, "eval_mode": mode, **counts, **row} for row in rows]
            predictions += _prediction_rows(about, split, mode, table, gold, found)
    model_digest = content_digest(kept) if settings.keep else ""
    done.keep(by, {"metrics": metrics, "predictions": predictions, "model": model_digest})
    for point in work.glob("resume-*"):
        shutil.rmtree(point, ignore_errors=True)
    return metrics, predictions


def cell_fingerprint(fingerprint: str, settings: FinetuneSettings, inputs: Sequence[Path], learning_rate: float) -> str:
    """Identity of a cell: the code's, the settings without the other learning rates, and the bytes of the inputs."""
    files = [path for given in inputs for path in (given.rglob("*") if given.is_dir() else [given]) if path.is_file()]
    alone = settings.model_copy(update={"learning_rates": [learning_rate], "keep": False})
    return run_fingerprint(fingerprint, alone, files)


def _modes(settings: FinetuneSettings) -> list[str]:
    if settings.task.kind != "text_to_text":
        return ["argmax"]
    return list(settings.task.eval_modes)


def _predict(prepared: PreparedTask, network: Any, split: Any, mode: str, batch: int, dtype: str) -> list[Any]:
    import torch

    device = next(network.parameters()).device
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=dtype == "bfloat16"):
        return prepared.task.answers(prepared.task.predict(network, split, mode, batch, device))


def _prediction_rows(
    about: dict[str, Any], split: str, mode: str, table: ExampleTable, gold: Sequence[Any], found: Sequence[Any]
) -> list[dict[str, Any]]:
    return [
        {**about, "split": split, "id": number, "subset": subset, "label": _text(label), "prediction": _text(answer)}
        | {"eval_mode": mode}
        for number, subset, label, answer in zip(table.columns["id"], table.subsets, gold, found, strict=True)
    ]


def _text(value: Any) -> str:
    """Labels and texts as they are, numbers in full, tags and accepted texts as a JSON list."""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else repr(float(value))


def require_names(models: Sequence[Path], names: Sequence[str]) -> None:
    """Raise a `ReprlabError` unless there is one distinct name per model."""
    if len(models) != len(names) or len(set(names)) != len(names):
        raise ReprlabError(f"names: {len(names)} names for {len(models)} models; give each model one name of its own")
