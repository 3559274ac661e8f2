"""Tasks for encoders with a head: classification, regression and tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.data.tag_schemes import iob2
from reprlab.evaluation.examples import ExampleTable
from reprlab.inference.generation import sorted_batches
from reprlab.models.pema import PartialVocabulary, kept_always
from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.text.encoding import encode
from reprlab.text.templates import render
from reprlab.training.finetuning_encoding import Ragged
from reprlab.training.finetuning_settings import TaskSettings

if TYPE_CHECKING:
    import numpy as np
    import torch

IGNORED = -100
# What the configurations of encoders call the dropout of embeddings and blocks, of attention, and of the head. A head
# whose rate is null takes that of the blocks; DeBERTa's pooler has a rate of its own, DistilBERT names all three.
_DROPOUTS = {
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
    "seq_classif_dropout",
    "dropout_rate",
    "classifier_dropout",
}


@dataclass(frozen=True)
class HeadSplit:
    """One split as ids, segment types, and a target per example (class, score) or token (tags, -100 elsewhere)."""

    inputs: Ragged
    types: Ragged
    targets: np.ndarray | Ragged
    gold: list[Any]
    answered: Ragged | None = None
    """Tags of the pieces whose answers are read, -100 elsewhere; None: those of `targets`."""
    places: Ragged | None = None
    """Of tags: where in `gold` the tag of each token that is read stands."""

    def __len__(self) -> int:
        return len(self.inputs)


class EncoderHead:
    """Fine-tuning and prediction of an encoder with a classification, regression or tagging head."""

    def __init__(self, settings: TaskSettings, labels: tuple[str, ...], tokenizer: Any, folder: Path) -> None:
        self.settings, self.labels, self.tokenizer = settings, labels, tokenizer
        if not tokenizer.is_fast or tokenizer.pad_token_id is None:
            raise ReprlabError(f"{folder}: encoder tasks need a fast tokenizer with a padding token")
        if settings.kind in ("classification", "tags") and not labels:
            raise ReprlabError(
                f"kind {settings.kind}: no labels; the examples declare none, so give the setting labels"
            )
        if any(metric.startswith("entity_") for metric in settings.metrics):
            iob2(labels)  # refuses tags that would be counted as nothing, before hours of training
        self.number = {label: number for number, label in enumerate(labels)}

    def load(self, folder: Path, dropout: float) -> torch.nn.Module:
        """The checkpoint in `folder` with this dropout and a new head (drawn from torch's current seed).

        Raises:
            ReprlabError: it has no such head.
        """
        import torch
        from transformers import AutoConfig, AutoModelForSequenceClassification, AutoModelForTokenClassification

        family: Any = AutoModelForSequenceClassification
        try:
            config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            for name in _DROPOUTS & vars(config).keys():
                setattr(config, name, dropout)
            if self.settings.kind == "tags":
                from reprlab.models.t5_heads import T5Tagger

                family = T5Tagger if config.model_type == "t5" else AutoModelForTokenClassification
            elif self.settings.kind == "classification" and config.model_type == "t5":
                from reprlab.models.t5_heads import T5EncoderClassifier

                family = T5EncoderClassifier
            elif self.settings.kind == "spans":
                from transformers import AutoModelForQuestionAnswering

                family = AutoModelForQuestionAnswering
            config.num_labels = 2 if self.settings.kind == "spans" else max(len(self.labels), 1)
            if self.labels:
                config.id2label, config.label2id = dict(enumerate(self.labels)), dict(self.number)
            return family.from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
            )
        except (OSError, ValueError) as error:
            reason = first_line(error)
            raise ReprlabError(f"{folder}: cannot be opened for {self.settings.kind} ({reason})") from None

    def encode(self, table: ExampleTable) -> HeadSplit:
        """Inputs and targets of a split as arrays."""
        import numpy as np

        kind, columns, answered, places = self.settings.kind, table.columns, None, None
        options: dict[str, Any] = {"truncation": True, "max_length": self.settings.input_length}
        if kind == "tags":
            encoded = encode(self.tokenizer, columns["tokens"], closed=True, is_split_into_words=True, **options)
            tagged = self._tag_targets(encoded, columns["tags"])
            targets: np.ndarray | Ragged = tagged
            if self.settings.tag_pieces == "words":
                answered = self._tag_targets(encoded, columns["tags"], every=False)
            places = self._places(encoded, answered or tagged)
            gold: list[Any] = self._piece_tags(columns) if self.settings.tag_pieces == "all" else columns["tags"]
        else:
            encoded = encode(self.tokenizer, *self._texts(table), closed=True, **options)
            gold = columns["score" if kind == "regression" else "label"]
            numbers = gold if kind == "regression" else [self.number[label] for label in gold]
            targets = np.asarray(numbers, dtype=np.float32 if kind == "regression" else np.int64)
        ids = Ragged.of(encoded["input_ids"])
        types = Ragged.of(encoded["token_type_ids"]) if "token_type_ids" in encoded else zeros_like(ids)
        return HeadSplit(ids, types, targets, gold, answered, places)

    def partial_vocabulary(self, splits: Sequence[HeadSplit], size: int) -> PartialVocabulary:
        """The ids of `splits`, special tokens included, out of the `size` rows of a model's embedding (PEMA)."""
        return PartialVocabulary.of_ids((split.inputs.flat for split in splits), size, kept_always(self.tokenizer))

    def renumbered(self, split: HeadSplit, vocabulary: PartialVocabulary, unknown: int | None = None) -> HeadSplit:
        """The split with its ids as rows of the partial matrix; ids without a row as the id `unknown`."""
        return replace(split, inputs=Ragged(vocabulary.renumber(split.inputs.flat, unknown), split.inputs.offsets))

    def batch(self, split: HeadSplit, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """Tensors of examples `rows`: input_ids, attention_mask, token_type_ids [B, L], labels [B] or [B, L]."""
        import torch

        ids, mask = split.inputs.padded(rows, self.tokenizer.pad_token_id)
        labels = split.targets.pad(rows, IGNORED) if isinstance(split.targets, Ragged) else split.targets[rows]
        arrays = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": split.types.pad(rows, 0),
            "labels": labels,
        }
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def loss(
        self, model: torch.nn.Module, batch: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy or squared error over the labels, and its sums."""
        import torch

        logits, labels = self._logits(model, batch), batch["labels"]
        tokens = batch["attention_mask"].sum()
        if self.settings.kind == "regression":
            summed = torch.nn.functional.mse_loss(logits.squeeze(-1).float(), labels, reduction="sum")
            count = torch.tensor(labels.numel(), device=labels.device)
            return summed / count, {"loss_sum": summed.detach(), "count": count, "tokens": tokens}
        summed = torch.nn.functional.cross_entropy(
            logits.flatten(0, -2).float(), labels.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        known = labels != IGNORED
        count = known.sum()
        correct = (logits.detach().argmax(-1) == labels)[known].sum()
        parts = {"loss_sum": summed.detach(), "count": count, "correct": correct, "total": count, "tokens": tokens}
        return summed / count, parts

    def predict(
        self, model: torch.nn.Module, split: HeadSplit, mode: str, batch_size: int, device: torch.device
    ) -> list[Any]:
        """Label, score or list of tags of each example. What has no token in the input (words cut off by input_length
        or without a piece) is tagged O, or with the first label where O is none."""
        import torch

        found: list[Any] = [None] * len(split)
        with torch.inference_mode():
            for rows in sorted_batches(split.inputs.lengths, batch_size):
                batch = {name: tensor.to(device) for name, tensor in self.batch(split, rows).items()}
                logits, read = self._logits(model, batch), batch["labels"]
                if split.answered is not None:
                    read = torch.from_numpy(split.answered.pad(rows, IGNORED)).to(device)
                for row, answer in zip(rows, self._read(logits, read), strict=True):
                    found[row] = answer
        return found if split.places is None else self._in_place(found, split, split.places)

    def answers(self, texts: list[Any]) -> list[Any]:
        """Predictions as they are: a head cannot leave the label set."""
        return texts

    def _texts(self, table: ExampleTable) -> list[list[str]]:
        if table.kind in ("pair", "similarity") and self.settings.template == "{text}":
            return [table.columns["text_a"], table.columns["text_b"]]
        settings = self.settings
        segments = render(settings.template, table.kind, table.columns, task=settings.template_task)
        return [["".join(parts) for parts in segments]]

    def _tag_targets(self, encoded: Any, tags: list[list[str]], every: bool | None = None) -> Ragged:
        """The tag of each word at its first piece, or at `every`; -100 at further pieces and special tokens."""
        targets, every = [], self.settings.tag_pieces != "first" if every is None else every
        for row, words in enumerate(tags):
            places = encoded.word_ids(row)
            first = [
                word is not None and (every or word != before)
                for word, before in zip(places, [None, *places], strict=False)
            ]
            targets.append(
                [self.number[words[w]] if start else IGNORED for w, start in zip(places, first, strict=True)]
            )
        return Ragged.of(targets)

    def _places(self, encoded: Any, read: Ragged) -> Ragged:
        """Where the tag of each token that is read stands among those that are scored: at its word, or at its piece,
        since only the last pieces of a sentence are cut off."""
        found: list[Any] = []
        for row, (first, last) in enumerate(pairwise(read.offsets)):
            kept = read.flat[first:last] != IGNORED
            words = [word for word, keep in zip(encoded.word_ids(row), kept, strict=True) if keep]
            found.append(range(len(words)) if self.settings.tag_pieces == "all" else words)
        return Ragged.of(found)

    def _piece_tags(self, columns: dict[str, list[Any]]) -> list[list[str]]:
        """The tags that are scored where pieces are: those of all pieces, the ones beyond input_length too."""
        whole = encode(self.tokenizer, columns["tokens"], is_split_into_words=True)
        return [[tags[word] for word in whole.word_ids(row)] for row, tags in enumerate(columns["tags"])]

    def _in_place(self, found: list[Any], split: HeadSplit, places: Ragged) -> list[list[str]]:
        outside = "O" if "O" in self.number else self.labels[0]
        answers = [[outside] * len(gold) for gold in split.gold]
        for answer, tags, (first, last) in zip(answers, found, pairwise(places.offsets), strict=True):
            for place, tag in zip(places.flat[first:last], tags, strict=True):
                answer[place] = tag
        return answers

    def _logits(self, model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        if getattr(model.config, "type_vocab_size", 0) < 2:  # type: ignore[arg-type]
            inputs.pop("token_type_ids")
        return model(**inputs).logits

    def _read(self, logits: torch.Tensor, labels: torch.Tensor) -> list[Any]:
        if self.settings.kind == "regression":
            return logits.squeeze(-1).float().tolist()
        best = logits.argmax(-1)
        if self.settings.kind == "classification":
            return [self.labels[number] for number in best.tolist()]
        kept = labels != IGNORED
        return [[self.labels[number] for number in row[keep].tolist()] for row, keep in zip(best, kept, strict=True)]


def zeros_like(ids: Ragged) -> Ragged:
    """As many zeros in each row."""
    import numpy as np

    return Ragged(np.zeros_like(ids.flat), ids.offsets)
