"""Text-to-text tasks for encoder-decoders, in T5's plain format or in the DEPTH format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.evaluation.examples import ExampleTable
from reprlab.inference.generation import EncoderBatch, decode, encode, generate, sorted_batches, teacher_forced
from reprlab.objectives.attention_masks import finetuning_masks
from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.text.encoding import piece_ids
from reprlab.text.templates import label_words, render
from reprlab.text.vocabulary import Vocabulary
from reprlab.training.finetuning_encoding import Ragged, encode_closed, encode_depth
from reprlab.training.finetuning_settings import TaskSettings

if TYPE_CHECKING:
    import numpy as np
    import torch

IGNORED = -100


@dataclass(frozen=True)
class TextSplit:
    """One split as ids: inputs, sentence numbers of the DEPTH format, targets; and gold labels or accepted texts."""

    inputs: Ragged
    types: Ragged | None
    targets: Ragged
    gold: list[Any]

    def __len__(self) -> int:
        return len(self.inputs)


class TextToText:
    """Fine-tuning and prediction of one text-to-text task."""

    def __init__(self, settings: TaskSettings, labels: tuple[str, ...], tokenizer: Any, folder: Path) -> None:
        self.settings, self.labels, self.tokenizer = settings, labels, tokenizer
        self.vocabulary = Vocabulary.load(folder)
        self.words = label_words(settings.template, labels, settings.label_words)
        self.spoken = self._spoken()

    def load(self, folder: Path, dropout: float) -> torch.nn.Module:
        """The checkpoint in `folder` as a model with this dropout.

        Raises:
            ReprlabError: it is not an encoder-decoder, or its embedding is smaller than the vocabulary.
        """
        import torch
        from transformers import AutoModelForSeq2SeqLM

        try:
            model = AutoModelForSeq2SeqLM.from_pretrained(
                folder,
                dropout_rate=dropout,
                dtype=torch.float32,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
            )
        except (OSError, ValueError) as error:
            raise ReprlabError(f"{folder}: cannot be opened as an encoder-decoder ({first_line(error)})") from None
        if model.get_input_embeddings().num_embeddings < len(self.tokenizer):
            raise ReprlabError(
                f"{folder}: {model.get_input_embeddings().num_embeddings} embeddings for a vocabulary of "
                f"{len(self.tokenizer)}; the model was made with another tokenizer"
            )
        return model

    def encode(self, table: ExampleTable) -> TextSplit:
        """Prompts and targets of a split as ids."""
        settings, vocabulary = self.settings, self.vocabulary
        segments = render(
            settings.template,
            table.kind,
            table.columns,
            task=settings.template_task,
            field_order=settings.field_order,
            fits=self._fits,
        )
        end = vocabulary.eos_id
        types = None
        if settings.depth_format:
            inputs, types = encode_depth(
                self.tokenizer, segments, settings.input_length, vocabulary.sentence_ids, vocabulary.eosen_id, end
            )
        else:
            prompts = ["".join(parts) for parts in segments]
            inputs = encode_closed(self.tokenizer, prompts, settings.input_length, end)
        gold = table.columns["label" if self.labels else "targets"]
        wanted = [self.words[label] for label in gold] if self.labels else [texts[0] for texts in gold]
        targets = Ragged.of([*ids[: settings.target_length - 1], end] for ids in self.target_ids(wanted))
        return TextSplit(inputs, types, targets, gold)

    def target_ids(self, texts: list[str]) -> list[list[int]]:
        """Ids of texts to be written, without their end."""
        return piece_ids(self.tokenizer, texts)

    def batch(self, split: TextSplit, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """Tensors of examples `rows`: ids and their 0/1 mask [B, L], labels [B, T] (-100 behind the end), DEPTH's types
        [B, L]."""
        import torch

        width = None if self.settings.mask_padding else self.settings.input_length
        ids, mask = split.inputs.padded(rows, self.vocabulary.pad_id, width)
        arrays = {"ids": ids, "mask": mask, "labels": split.targets.pad(rows, IGNORED)}
        if split.types is not None:
            arrays["types"] = split.types.pad(rows, 0, width)
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def loss(
        self, model: torch.nn.Module, batch: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over label positions, and its sums."""
        import torch

        mask, cross_mask = self._masks(model, batch)
        labels = batch["labels"]
        logits = model(
            encoder_outputs=encode(model, batch["ids"], mask), attention_mask=cross_mask, labels=labels
        ).logits
        summed = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        known = labels != IGNORED
        count = known.sum()
        parts = {
            "loss_sum": summed.detach(),
            "count": count,
            "correct": (logits.detach().argmax(-1) == labels)[known].sum(),
            "total": count,
            "tokens": batch["mask"].sum() + count,
        }
        return summed / count, parts

    def predict(
        self, model: torch.nn.Module, split: TextSplit, mode: str, batch_size: int, device: torch.device
    ) -> list[str]:
        """The answer to each example: greedy (`generate`) or the argmax under the true labels (`teacher_forced`)."""
        batches = self._batches(model, split, batch_size, device)
        if mode == "generate":
            outputs = generate(model, (batch for batch, _ in batches), self.settings.target_length, len(split))
        else:
            outputs = teacher_forced(model, batches, len(split))
        return decode(self.tokenizer, outputs)

    def answers(self, texts: list[str]) -> list[str]:
        """Texts as predictions to score: the label that a text spells, else the text itself."""
        return [self.spoken.get(text, text) for text in texts]

    def _spoken(self) -> dict[str, str]:
        """Label by the text that its target decodes to (a tokenizer may lose characters that it does not know)."""
        ids = dict(zip(self.words, piece_ids(self.tokenizer, list(self.words.values())), strict=True))
        longest = max(ids, key=lambda label: len(ids[label]), default=None)
        if longest is not None and len(ids[longest]) + 1 > self.settings.target_length:
            raise ReprlabError(
                f"target_length {self.settings.target_length}: label {self.words[longest]!r} needs "
                f"{len(ids[longest]) + 1} tokens; raise target_length"
            )
        spoken = {text: label for label, text in zip(ids, decode(self.tokenizer, list(ids.values())), strict=True)}
        if len(spoken) < len(ids):
            raise ReprlabError(f"label_words: the tokenizer spells two of {', '.join(self.words.values())} alike")
        return spoken

    def _fits(self, prompts: list[str]) -> np.ndarray:
        import numpy as np

        return np.array([len(ids) < self.settings.input_length for ids in piece_ids(self.tokenizer, prompts)])

    def _masks(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Encoder mask (2-D 0/1, or 4-D additive in the DEPTH format) and the 2-D mask of cross-attention."""
        import torch

        seen = batch["mask"]
        if not self.settings.depth_format:
            return seen, seen
        masks = finetuning_masks(
            batch["ids"],
            batch["types"],
            1,
            self.vocabulary,
            dtype=model.dtype,
            mask_padding=self.settings.mask_padding,
        )
        return masks.encoder, seen if self.settings.mask_padding else torch.ones_like(seen)

    def _batches(
        self, model: torch.nn.Module, split: TextSplit, batch_size: int, device: torch.device
    ) -> Iterator[tuple[EncoderBatch, torch.Tensor]]:
        for rows in sorted_batches(split.inputs.lengths, batch_size):
            batch = {name: tensor.to(device) for name, tensor in self.batch(split, rows).items()}
            mask, cross_mask = self._masks(model, batch)
            yield EncoderBatch(rows, batch["ids"], mask, cross_mask), batch["labels"]
