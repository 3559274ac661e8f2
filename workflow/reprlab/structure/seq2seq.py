"""An encoder-decoder on pairs of texts: what it is trained on, and what it writes by beam search."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.evaluation.examples import ExampleTable, load_examples
from reprlab.inference.generation import sorted_batches, until_end
from reprlab.structure.pairs import said, target_ids
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.training.finetuning_order import TrainingOrder
from reprlab.training.finetuning_settings import TaskSettings
from reprlab.training.finetuning_text import TextSplit, TextToText

if TYPE_CHECKING:
    import torch

    from reprlab.structure.seq2seq_settings import GenerationSettings, PairTraining
    from reprlab.training.settings import EngineSettings


class _PairTexts(TextToText):
    def target_ids(self, texts: list[str]) -> list[list[int]]:
        return target_ids(self.tokenizer, texts)


def pair_task(tokenizer: Path, input_length: int, target_length: int) -> TextToText:
    """Pairs as a text-to-text task: the prompt and the source are read, the target is written."""
    settings = TaskSettings(
        kind="text_to_text",
        template="{definition}{source}",
        metrics=["exact_match"],
        input_length=input_length,
        target_length=target_length,
    )
    return _PairTexts(settings, (), open_tokenizer(tokenizer), tokenizer)


def load_pairs(path: Path, split: str, limit: int | None = None, copied: bool = False) -> ExampleTable:
    """The pairs of a split; `copied`: with the source as the target.

    Raises:
        ReprlabError: the table is damaged, or has no pair in the split.
    """
    table = load_examples(path, [split], {split: limit})[split]
    if copied:
        table.columns["targets"] = [[source] for source in table.columns["source"]]
    return table


def engine_of(settings: PairTraining, pairs: int) -> EngineSettings:
    """The training loop: its steps and the end of its schedule where they follow from passes, its last step kept."""
    engine = settings.engine
    steps = engine.steps if settings.epochs is None else updates(settings.epochs, pairs, engine.batch_size)
    schedule = engine.schedule
    if settings.horizon_epochs is not None:
        horizon = updates(settings.horizon_epochs, pairs, engine.batch_size)
        schedule = schedule.model_copy(update={"horizon_steps": horizon})
    ladder = sorted({step for step in engine.ladder if step < steps} | {steps})
    return engine.model_copy(update={"steps": steps, "schedule": schedule, "ladder": ladder})


def updates(epochs: float, pairs: int, batch_size: int) -> int:
    """Updates in this many passes over the pairs; a batch may span two passes, and the last one is full."""
    return math.ceil(epochs * pairs / batch_size)


def order_of(settings: PairTraining, split: TextSplit) -> TrainingOrder:
    """Which pairs an update sees: a function of the pairs and the settings, and of no model."""
    lengths = split.inputs.lengths if settings.group_by_length else None
    return TrainingOrder(len(split), settings.engine.batch_size, settings.engine.seed, lengths)


def course_of(order: TrainingOrder, engine: EngineSettings, ids: Sequence[str]) -> str:
    """Digest of the pairs by their `ids`, the batches and the learning rates of a run.

    Two arms that can be compared have the same.
    """
    from reprlab.training.schedules import learning_rate_factor

    digest = hashlib.sha256("\0".join(ids).encode())
    for step in range(engine.steps):
        rate = learning_rate_factor(step, engine.steps, engine.schedule) * engine.optimizer.learning_rate
        digest.update(f"{rate!r} ".encode() + order.rows(step).tobytes())
    return digest.hexdigest()[:16]


def answers(
    network: Any, task: TextToText, split: TextSplit, settings: GenerationSettings, device: torch.device, batch: int
) -> list[str]:
    """The model's text for each pair, in the words of the formats; special tokens that are not boundaries stay."""
    import torch

    outputs: list[list[int]] = [[] for _ in range(len(split))]
    pad, end = task.vocabulary.pad_id, task.vocabulary.eos_id
    precision = torch.autocast(device.type, dtype=torch.bfloat16, enabled=settings.dtype == "bfloat16")
    with torch.inference_mode(), precision:
        for rows in sorted_batches(split.inputs.lengths, batch):
            ids, mask = (torch.from_numpy(part).to(device) for part in split.inputs.padded(rows, pad))
            found = network.generate(
                input_ids=ids,
                attention_mask=mask,
                max_new_tokens=settings.max_length,
                num_beams=settings.beams,
                do_sample=False,
            )
            for row, written_ids in zip(rows, found[:, 1:].tolist(), strict=True):
                outputs[row] = until_end(written_ids, end, pad)
    return said(task.tokenizer, outputs)
