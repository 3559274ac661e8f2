"""The discriminative classifier: the document without markers is encoded once, its pairs are read from its states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.events.documents import EventDocument
from reprlab.events.pairs import LabelledPairs, pair_weights
from reprlab.events.settings import PairClassification
from reprlab.events.windows import EncodedDocument, encode_documents, open_word_tokenizer
from reprlab.inference.similar_batches import similar_batches
from reprlab.models.span_pairs import span_pair_classifier
from reprlab.retrieval.bi_encoder import padded
from reprlab.text.encoding import padding_id
from reprlab.training.finetuning_encoding import Ragged

if TYPE_CHECKING:
    import torch

_PAIRS_AT_ONCE = 8192
_HEAD = "head.safetensors"


class SpanPairs:
    """Training and prediction with a span-pair classifier."""

    def __init__(self, folder: Path, tokenizer: Path, settings: PairClassification, *, trained: bool) -> None:
        import torch

        from reprlab.models.build import load_model
        from reprlab.models.frozen_layers import freeze_lowest

        self.settings = settings
        self.tokenizer = open_word_tokenizer(tokenizer)
        torch.manual_seed(settings.engine.seed)
        factor = settings.head_learning_rate / settings.engine.optimizer.learning_rate
        encoder = load_model(folder)
        freeze_lowest(encoder, settings.frozen_layers, recurring=settings.engine.batch_size == 1)
        self.model = span_pair_classifier(
            encoder, len(settings.labels) + 1, settings.dropout, factor, settings.features
        )
        if trained:
            from safetensors.torch import load_file

            self.model.head.load_state_dict(load_file(folder / _HEAD))

    def save(self, folder: Path) -> None:
        """Encoder, tokenizer and head in one folder."""
        from safetensors.torch import save_file

        from reprlab.retrieval.bi_encoder import save_encoder

        save_encoder(self.model.encoder, self.tokenizer, folder)
        save_file(
            {name: value.contiguous().cpu() for name, value in self.model.head.state_dict().items()}, folder / _HEAD
        )

    def prepare(self, documents: Sequence[EventDocument], pairs: Sequence[LabelledPairs]) -> SpanItems:
        """The documents that have pairs, as sub-tokens."""
        kept = [number for number, found in enumerate(pairs) if len(found.labels)]
        encoded = (
            encode_documents(self.tokenizer, [documents[n] for n in kept], self.settings.max_length) if kept else []
        )
        return SpanItems(encoded, [len(documents[n]) for n in kept], [pairs[n] for n in kept], kept, self._pad())

    def _pad(self) -> int:
        return padding_id(self.tokenizer)

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over the pairs of a batch, weighted by label."""
        import torch

        losses = torch.nn.functional.cross_entropy(model(batch).float(), batch["labels"], reduction="none")
        weights = pair_weights(batch["labels"], self.settings.relation_weight)
        count = weights.sum()
        loss = (losses * weights).sum() / count
        return loss, {"count": count, "loss_sum": loss.detach() * count, "tokens": batch["attention_mask"].sum()}

    def predict(self, items: SpanItems, device: torch.device, batch_size: int) -> list[np.ndarray]:
        """Label number of each pair of each item; a document is encoded once, whatever the number of its pairs."""
        import torch

        found: list[np.ndarray] = [np.zeros(0, dtype=np.int64)] * len(items)
        for rows in similar_batches(items.lengths(), batch_size, device.type):
            batch = {name: value.to(device) for name, value in items.batch(rows).items()}
            vectors = self.model.vectors(batch)
            scores = [self.model.scores(vectors, part).argmax(-1) for part in batch["pairs"].split(_PAIRS_AT_ONCE)]
            labels = torch.cat(scores).cpu().numpy()
            ends = np.cumsum([len(items.pairs[row].labels) for row in rows])
            for row, own in zip(rows, np.split(labels, ends[:-1]), strict=True):
                found[row] = own
        return found


class SpanItems:
    """Documents with pairs, from which batches are made."""

    def __init__(
        self, encoded: list[EncodedDocument], mentions: list[int], pairs: list[LabelledPairs], kept: list[int], pad: int
    ) -> None:
        self.encoded, self.mentions, self.pairs, self.kept, self.pad = encoded, mentions, pairs, kept, pad

    def __len__(self) -> int:
        return len(self.encoded)

    def lengths(self) -> np.ndarray:
        """[documents]: tokens of the longest window of each."""
        return np.array([max(map(len, document.windows)) for document in self.encoded], dtype=np.int64)

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """Windows of the documents `rows`, the places of their triggers, and their pairs with labels."""
        import torch

        documents = [self.encoded[row] for row in rows]
        windows = Ragged.of(window for document in documents for window in document.windows)
        ids, mask = padded(windows, np.arange(len(windows)), self.pad)
        first_window = np.cumsum([0, *(len(document.windows) for document in documents)])
        first_mention = np.cumsum([0, *(self.mentions[row] for row in rows)])
        place = [
            (document.window_of + start) * ids.shape[1] + document.place_of
            for document, start in zip(documents, first_window, strict=False)
        ]
        owner = [document.mention_of + start for document, start in zip(documents, first_mention, strict=False)]
        pairs = [self.pairs[row].pairs + start for row, start in zip(rows, first_mention, strict=False)]
        return {
            "input_ids": ids,
            "attention_mask": mask,
            "span_place": torch.from_numpy(np.concatenate(place)),
            "span_owner": torch.from_numpy(np.concatenate(owner)),
            "span_count": torch.tensor(first_mention[-1]),
            "pairs": torch.from_numpy(np.concatenate(pairs)),
            "labels": torch.from_numpy(np.concatenate([self.pairs[row].labels for row in rows])),
        }
