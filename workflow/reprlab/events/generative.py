"""The generative classifier: two marked sentences in, the name of the relation out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.events.documents import EventDocument
from reprlab.events.encodings import MARKERS, PAIR_FRAME
from reprlab.events.mention_inputs import mention_pieces
from reprlab.events.pairs import LabelledPairs, pair_weights
from reprlab.events.settings import EventSelection, PairClassification
from reprlab.inference.generation import EncoderBatch, decode, generate, sorted_batches
from reprlab.inference.label_strings import label_string_scores
from reprlab.retrieval.bi_encoder import add_tokens, padded
from reprlab.text.encoding import closed_ids, padding_id, part_ids, surrounding_ids
from reprlab.training.finetuning_encoding import Ragged

if TYPE_CHECKING:
    import torch

_IGNORED = -100


def pair_inputs(
    tokenizer: Any,
    documents: Sequence[EventDocument],
    pairs: Sequence[LabelledPairs],
    events: EventSelection,
    max_length: int,
) -> Ragged:
    """Ids of every pair of the documents as one text each; they are tokenised once a mention, not once a pair."""
    before, behind = surrounding_ids(tokenizer)
    opening, between = part_ids(tokenizer, PAIR_FRAME)
    room = (max_length - len(opening) - len(between) - len(before) - len(behind)) // 2
    return Ragged.of(
        [*before, *opening, *mentions[head], *between, *mentions[tail], *behind]
        for found, mentions in zip(pairs, mention_pieces(tokenizer, documents, events, room), strict=True)
        for head, tail in found.pairs.tolist()
    )


class TextPairs:
    """Training and prediction with an encoder-decoder whose answer is one of the label strings."""

    def __init__(self, folder: Path, tokenizer: Path, settings: PairClassification, *, trained: bool) -> None:
        import torch

        from reprlab.models.build import load_model
        from reprlab.models.frozen_layers import freeze_lowest
        from reprlab.text.model_tokenizers import load_tokenizer

        self.settings = settings
        self.tokenizer = load_tokenizer(tokenizer)
        self.model: Any = load_model(folder)
        if not trained:
            add_tokens(self.tokenizer, self.model, MARKERS, settings.engine.seed)
            freeze_lowest(self.model, settings.frozen_layers)
        ids = closed_ids(self.tokenizer, [settings.none, *settings.labels])
        self.strings = torch.from_numpy(Ragged.of(ids).pad(np.arange(len(ids)), _IGNORED))
        self.numbers = {text: number for number, text in enumerate(decode(self.tokenizer, ids))}

    def save(self, folder: Path) -> None:
        """Model and tokenizer in one folder."""
        from reprlab.retrieval.bi_encoder import save_encoder

        save_encoder(self.model, self.tokenizer, folder)

    def prepare(self, documents: Sequence[EventDocument], pairs: Sequence[LabelledPairs]) -> TextItems:
        """Every pair as one input."""
        kept = [number for number, found in enumerate(pairs) if len(found.labels)]
        asked = [pairs[number] for number in kept]
        inputs = pair_inputs(
            self.tokenizer, [documents[n] for n in kept], asked, self.settings.events, self.settings.max_length
        )
        labels = np.concatenate([np.zeros(0, np.int64), *(found.labels for found in asked)])
        return TextItems(
            inputs, labels, self.strings, padding_id(self.tokenizer), kept, [len(found.labels) for found in asked]
        )

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over the tokens of the label strings, weighted by label."""
        import torch

        inputs = {name: value for name, value in batch.items() if name != "numbers"}
        logits = model(**inputs).logits.float().transpose(1, 2)
        losses = torch.nn.functional.cross_entropy(logits, batch["labels"], ignore_index=_IGNORED, reduction="none")
        weights = pair_weights(batch["numbers"], self.settings.relation_weight).unsqueeze(1)
        weights = weights * (batch["labels"] != _IGNORED)
        count = weights.sum()
        loss = (losses * weights).sum() / count
        return loss, {"count": count, "loss_sum": loss.detach() * count, "tokens": batch["attention_mask"].sum()}

    def predict(self, items: TextItems, device: torch.device, batch_size: int) -> list[np.ndarray]:
        """Label number of each pair of each document, in batches of similar length."""

        def batch(rows: np.ndarray) -> EncoderBatch:
            ids, mask = (tensor.to(device) for tensor in padded(items.inputs, rows, items.pad))
            return EncoderBatch(rows, ids, mask, mask)

        answers = self._written if self.settings.decoding == "greedy" else self._likeliest
        found = answers(map(batch, sorted_batches(items.inputs.lengths, batch_size)), len(items))
        return np.split(found, np.cumsum(items.counts)[:-1]) if items.counts else []

    def _likeliest(self, batches: Iterable[EncoderBatch], rows: int) -> np.ndarray:
        """Number of the label string that is the likeliest answer to each of `rows` inputs."""
        found = np.zeros(rows, dtype=np.int64)
        for batch in batches:
            scores = label_string_scores(self.model, batch.ids, batch.mask, self.strings.to(batch.ids.device))
            found[batch.rows] = scores.argmax(-1).cpu().numpy()
        return found

    def _written(self, batches: Iterable[EncoderBatch], rows: int) -> np.ndarray:
        """Number of the label string that is the greedy answer; 0, no relation, for any other text."""
        texts = decode(self.tokenizer, generate(self.model, batches, self.strings.shape[1], rows))
        return np.array([self.numbers.get(text, 0) for text in texts], dtype=np.int64)


class TextItems:
    """Pairs as inputs, from which batches are made."""

    def __init__(
        self, inputs: Ragged, labels: np.ndarray, strings: torch.Tensor, pad: int, kept: list[int], counts: list[int]
    ) -> None:
        self.inputs, self.labels, self.strings, self.pad = inputs, labels, strings, pad
        self.kept, self.counts = kept, counts

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """Inputs of the pairs `rows`, the ids of their label strings, and their numbers."""
        import torch

        ids, mask = padded(self.inputs, rows, self.pad)
        numbers = torch.from_numpy(self.labels[rows])
        return {"input_ids": ids, "attention_mask": mask, "labels": self.strings[numbers], "numbers": numbers}
