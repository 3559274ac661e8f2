"""Fine-tuning of an encoder that answers a question with a span of its context, or with nothing (SQuAD)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.evaluation.examples import ExampleTable
from reprlab.inference.generation import sorted_batches
from reprlab.text.encoding import encode
from reprlab.training.finetuning_encoding import Ragged
from reprlab.training.finetuning_heads import EncoderHead, HeadSplit, zeros_like

if TYPE_CHECKING:
    import numpy as np
    import torch

_LONGEST_ANSWER = 30


@dataclass(frozen=True)
class AnswerSplit(HeadSplit):
    """A split whose targets [n, 2] are the first and last token of the answer; 0, [CLS], for none."""

    contexts: tuple[str, ...] = ()
    first: Ragged | None = None
    """Where each token begins in its context, -1 for tokens of the question and special ones."""
    last: Ragged | None = None
    """Where it ends."""


class AnswerSpans(EncoderHead):
    """Training on, and prediction of, the first and last token of an answer."""

    def encode(self, table: ExampleTable) -> AnswerSplit:
        """Inputs and targets of a split; an answer that is cut off counts as none while training."""
        import numpy as np

        columns = table.columns
        encoded = encode(
            self.tokenizer,
            columns["question"],
            columns["context"],
            closed=True,
            truncation="only_second",
            max_length=self.settings.input_length,
            return_offsets_mapping=True,
        )
        firsts: list[Any] = []
        lasts: list[Any] = []
        targets: list[tuple[int, int]] = []
        for row, offsets in enumerate(encoded["offset_mapping"]):
            inside = np.array([part == 1 for part in encoded.sequence_ids(row)])
            places = np.array(offsets, dtype=np.int64)
            firsts.append(np.where(inside, places[:, 0], -1))
            lasts.append(np.where(inside, places[:, 1], -1))
            targets.append(_target(firsts[-1], lasts[-1], columns["starts"][row], columns["answers"][row]))
        ids = Ragged.of(encoded["input_ids"])
        types = Ragged.of(encoded["token_type_ids"]) if "token_type_ids" in encoded else zeros_like(ids)
        return AnswerSplit(
            ids,
            types,
            np.array(targets, dtype=np.int64).reshape(-1, 2),
            [answers or [""] for answers in columns["answers"]],
            contexts=tuple(columns["context"]),
            first=Ragged.of(firsts),
            last=Ragged.of(lasts),
        )

    def loss(
        self, model: torch.nn.Module, batch: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean of the cross-entropies of first and last token, and its sums."""
        import torch

        scores, labels = self._logits(model, batch).float(), batch["labels"]
        summed = torch.nn.functional.cross_entropy(scores, labels, reduction="sum") / 2
        count = torch.tensor(len(labels), device=labels.device)
        return summed / count, {
            "loss_sum": summed.detach(),
            "count": count,
            "tokens": batch["attention_mask"].sum(),
        }

    def predict(
        self, model: torch.nn.Module, split: Any, mode: str, batch_size: int, device: torch.device
    ) -> list[Any]:
        """The text of the best span of each context, empty where [CLS] scores higher."""
        import numpy as np
        import torch

        found: list[Any] = [""] * len(split)
        with torch.inference_mode():
            for rows in sorted_batches(split.inputs.lengths, batch_size):
                batch = {name: tensor.to(device) for name, tensor in self.batch(split, rows).items()}
                first, last = split.first.pad(rows, -1), split.last.pad(rows, -1)
                scores = self._logits(model, batch).float().cpu()
                for row, span in zip(rows, _best_spans(scores, torch.from_numpy(first >= 0)), strict=True):
                    if span[1]:
                        place = int(np.flatnonzero(rows == row)[0])
                        found[row] = split.contexts[row][first[place, span[0]] : last[place, span[1]]]
        return found

    def _logits(self, model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """[B, L, 2] scores of each token as the first and as the last one; padding has -inf."""
        import torch

        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        out = model(**inputs)
        scores = torch.stack([out.start_logits, out.end_logits], -1)
        return scores.masked_fill(batch["attention_mask"][..., None] == 0, -torch.inf)


def _target(first: np.ndarray, last: np.ndarray, starts: list[int], answers: list[str]) -> tuple[int, int]:
    """First and last token of the first answer; 0, 0 where there is none or it is cut off."""
    import numpy as np

    if not answers:
        return 0, 0
    begin, end = starts[0], starts[0] + len(answers[0])
    held = np.flatnonzero((first >= 0) & (last > begin) & (first < end))
    if not len(held) or last[held[-1]] < end:
        return 0, 0
    return int(held[0]), int(held[-1])


def _best_spans(scores: torch.Tensor, inside: torch.Tensor) -> list[list[int]]:
    """[B] first and last token of the span with the highest sum of both scores; 0, 0 where that of [CLS] is higher."""
    import torch

    length = scores.shape[1]
    sums = scores[:, :, None, 0] + scores[:, None, :, 1]
    places = torch.arange(length)
    fits = (places[:, None] <= places) & (places < places[:, None] + _LONGEST_ANSWER)
    allowed = inside[:, :, None] & inside[:, None] & fits
    allowed[:, 0, 0] = True
    best = torch.where(allowed, sums, -torch.inf).flatten(1).argmax(1)
    return torch.stack([best // length, best % length], 1).tolist()
