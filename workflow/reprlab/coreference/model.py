"""Encoders, aggregator and coreference head as one model, and the tensors that it reads of a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from reprlab.coreference.aggregation import Aggregator, read_layers
from reprlab.coreference.documents import Document
from reprlab.coreference.head import Antecedents, CoreferenceHead, document_loss
from reprlab.coreference.settings import CoreferenceTraining
from reprlab.runtime.errors import ReprlabError, first_line

_NOT_DECAYED = ("bias", "LayerNorm.weight")


def open_encoder(folder: Path, layers: int | None = None) -> Any:
    """An encoder without its head, cut behind `layers` layers: its output is then that hidden state of the whole.

    Raises:
        ReprlabError: the folder holds no encoder that is built as BERT is, or one with fewer layers.
    """
    from transformers import AutoModel

    from reprlab.models.build import quiet_transformers

    quiet_transformers()
    try:
        encoder = AutoModel.from_pretrained(
            folder,
            dtype=torch.float32,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            add_pooling_layer=False,
        )
        stack = encoder.encoder.layer
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ReprlabError(f"{folder}: not an encoder that is built as BERT is ({first_line(error)})") from None
    if layers is not None and layers > len(stack):
        raise ReprlabError(f"{folder}: layer {layers} is asked for, and it has {len(stack)} layers")
    if layers is not None:
        encoder.encoder.layer = stack[:layers]
    return encoder


class CoreferenceModel(nn.Module):
    """Antecedent scores of one document, from the states of its sources or from the sources themselves."""

    def __init__(self, encoders: Sequence[Any], sources: int, width: int, settings: CoreferenceTraining) -> None:
        super().__init__()
        self.settings = settings
        self.encoders = nn.ModuleList(encoders)
        self.aggregator = Aggregator(sources, width, settings.aggregation)
        self.head = CoreferenceHead(width, settings.head)
        self._set_rates()

    def _set_rates(self) -> None:
        """The head learns at a rate of its own, without decay and warm-up; frozen encoders do not learn."""
        factor = self.settings.head_learning_rate / self.settings.engine.optimizer.learning_rate
        for parameter in self.head.parameters():
            parameter.rate_factor, parameter.decays, parameter.warms_up = factor, False, False  # type: ignore[attr-defined]
        self.encoders.requires_grad_(self.settings.train_encoder)
        for name, parameter in [*self.encoders.named_parameters(), *self.aggregator.named_parameters()]:
            parameter.decays = not name.endswith(_NOT_DECAYED)  # type: ignore[attr-defined]

    def train(self, mode: bool = True) -> CoreferenceModel:
        """As `Module.train`; the dropout of frozen encoders follows `encoder_dropout`."""
        super().train(mode)
        if not self.settings.train_encoder and not self.settings.encoder_dropout:
            self.encoders.eval()
        return self

    def forward(self, batch: dict[str, torch.Tensor]) -> tuple[Antecedents, torch.Tensor]:
        """Antecedents, and the weight of each source for each token [n, T]."""
        states = batch["states"].float() if "states" in batch else self._encoded(batch)
        vectors, weights = self.aggregator(states)
        return self.head(vectors, batch), weights

    def _encoded(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """[n, T, H * concatenated] states of `input_ids` [S, L], without the padding."""
        inside, joined = batch["attention_mask"].bool(), self.settings.aggregation.concatenated
        found = []
        for encoder in self.encoders:
            with torch.set_grad_enabled(self.settings.train_encoder and torch.is_grad_enabled()):
                out = encoder(
                    input_ids=batch["input_ids"],
                    attention_mask=batch["attention_mask"],
                    output_hidden_states=joined > 1,
                )
            if joined > 1:
                found.append(read_layers(out.hidden_states, len(out.hidden_states) - 1, joined)[inside])
            else:
                found.append(out.last_hidden_state[inside])
        return torch.stack(found)


def loss_of(model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The loss of one document, summed over its spans, as the training loop wants it."""
    found, _ = model(batch)
    loss = document_loss(found, batch, model.settings.head.mention_loss)
    one = torch.ones((), device=loss.device)
    return loss, {"count": one, "loss_sum": loss.detach(), "tokens": one * len(batch["sentence"])}


def document_tensors(
    document: Document, genres: Sequence[str], first: int = 0, segments: int | None = None
) -> tuple[dict[str, torch.Tensor], slice]:
    """Tensors of a window of a document from segment `first`, and its tokens' place in the document.

    A mention is kept if it begins before the end of the window and ends at its start or later (Xu and Choi 2020); the
    authors' port cuts the list of mentions by numbers of segments instead, which is not repeated here.

    Raises:
        ReprlabError: the document's genre, the first two letters of its key, is not among `genres`.
    """
    if genres and document.key[:2] not in genres:
        raise ReprlabError(f"{document.key}: genre {document.key[:2]!r} is not among head.genres {list(genres)}")
    last = len(document.segments) if segments is None else first + segments
    bounds = np.cumsum([0, *(len(segment) for segment in document.segments)])
    start, end = int(bounds[first]), int(bounds[min(last, len(document.segments))])
    spans, clusters = document.mentions()
    kept = (spans[:, 0] < end) & (spans[:, 1] >= start)
    part = slice(start, end)
    arrays = {
        "sentence": document.sentence[part],
        "segment": document.segment[part],
        "speaker": document.speaker_ids()[part],
        "genre": np.array(genres.index(document.key[:2]) if genres else 0),
        "mentions": spans[kept] - start,
        "clusters": clusters[kept],
    }
    return {name: torch.from_numpy(array) for name, array in arrays.items()}, part


def input_tensors(document: Document, tokenizer: Any, first: int = 0, segments: int | None = None) -> dict[str, Any]:
    """`input_ids` and `attention_mask` [S, L] of a window of a document."""
    rows = document.segments[first : None if segments is None else first + segments]
    ids = [torch.tensor(tokenizer.convert_tokens_to_ids(list(row))) for row in rows]
    padded = nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=tokenizer.pad_token_id)
    lengths = torch.tensor([len(row) for row in ids])
    return {"input_ids": padded, "attention_mask": (torch.arange(padded.shape[1]) < lengths[:, None]).long()}
