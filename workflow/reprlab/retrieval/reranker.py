"""Cross-encoders: a language model reads query and document together, and the state of one token is their score."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.inference.similar_batches import similar_batches
from reprlab.models.pooling import Pooling, pool
from reprlab.models.similar_lengths import read_by_length
from reprlab.retrieval.bi_encoder import padded
from reprlab.retrieval.first_state import only_first_state
from reprlab.retrieval.rerank_inputs import PairInputs, sequences
from reprlab.retrieval.trec import Run

if TYPE_CHECKING:
    import torch

POOLED: dict[str, Pooling] = {"document_first": "last", "query_first": "first"}
"""The token whose state is scored, by template; the mask finds it: the end token of Mamba's tokenizer pads too."""
HEAD = "head.safetensors"
"""File of the scoring layer in the folder of a reranker."""
# Sequences that are held at once while a run is scored.
_PAIRS_AT_ONCE = 8192


def reranker(model: Any, pooling: Pooling, dropout: float, rate_factor: float = 1.0) -> Any:
    """A language model with score = w . dropout(h) + b, in float32; the head learns at `rate_factor` times the rate.

    The model's output layer is left out. An encoder-decoder reads the sequence twice and its decoder's state counts;
    `encoder_alone` gives a model that reads it once.
    """
    import torch

    class Reranker(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.pooling = pooling
            self.backbone = model.base_model
            # A cache would keep the scans of Mamba from running in chunks, and nothing is decoded here.
            self.backbone.config.use_cache = False
            self.dropout = torch.nn.Dropout(dropout)
            self.head = torch.nn.Linear(state_width(model.config), 1)
            torch.nn.init.normal_(self.head.weight, std=0.02)
            torch.nn.init.zeros_(self.head.bias)
            for parameter in self.head.parameters():
                parameter.rate_factor = rate_factor  # type: ignore[attr-defined]

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            state = read_by_length(self.state, input_ids, attention_mask)
            with torch.autocast(state.device.type, enabled=False):
                return self.head(self.dropout(state)).squeeze(-1)

        def state(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            """[B, d]: what is scored."""
            states = self.backbone(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            # Of an encoder that computes its first state alone there is no other.
            return pool(states, attention_mask[:, : states.shape[1]], pooling)

    return Reranker()


def state_width(config: Any) -> int:
    """Width of a last hidden state; that of OPT-350M is projected to its embeddings'."""
    return int(getattr(config, "word_embed_proj_dim", None) or config.hidden_size)


def group_loss(model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Softmax cross-entropy over each group of 1 + m scores, the relevant document first (equation 7).

    A group with equal scores has the loss ln(1 + m); a constant added to its scores, and the order of its negatives,
    change nothing.
    """
    import torch

    scores = model(batch["input_ids"], batch["attention_mask"]).view(len(batch["groups"]), -1)
    loss = torch.nn.functional.cross_entropy(scores, scores.new_zeros(len(scores), dtype=torch.long))
    count = torch.tensor(len(scores), device=loss.device)
    hits = (scores.argmax(1) == 0).sum()
    parts = {"count": count, "loss_sum": loss.detach() * count, "correct": hits, "total": count}
    return loss, {**parts, "tokens": batch["attention_mask"].sum()}


def save_reranker(model: Any, whole: Any, tokenizer: Any, folder: Path) -> None:
    """Language model (`whole`, of which the reranker has the backbone), tokenizer and head in one folder."""
    from safetensors.torch import save_file

    from reprlab.retrieval.bi_encoder import save_encoder

    save_encoder(whole, tokenizer, folder)
    save_file({name: value.contiguous().cpu() for name, value in model.head.state_dict().items()}, folder / HEAD)


def load_reranker(folder: Path, pooling: Pooling) -> Any:
    """Open what `save_reranker` wrote.

    Raises:
        ReprlabError: the folder is not a model folder, or has no head.
    """
    from reprlab.models.build import load_model

    model = reranker(load_model(folder), pooling, 0.0)
    load_head(model, folder)
    return model


def load_head(model: Any, folder: Path) -> None:
    """Give a reranker the head that `save_reranker` wrote.

    Raises:
        ReprlabError: there is none of this model.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from reprlab.runtime.errors import ReprlabError

    try:
        model.head.load_state_dict(load_file(folder / HEAD))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ReprlabError(f"{folder / HEAD}: no head of this model ({error}); delete the folder") from None


def rerank(
    model: Any,
    inputs: PairInputs,
    run: Run,
    pad: int,
    *,
    stride: int = 0,
    batch_size: int = 32,
    dtype: str = "float32",
    device: Any = "cpu",
) -> Run:
    """The documents of a run with the model's scores, in batches of similar length.

    Args:
        stride: 0: the beginning of each document (FirstP, LongP with a longer `max_length`); else the largest score of
            the passages that begin this many tokens apart (MaxP).
        batch_size: pairs in a forward pass of an accelerator; on a CPU it has as many as are fastest there.
    """
    pairs = [
        (query, document, first)
        for query, documents in run.items()
        for document in documents
        for first in (inputs.starts(query, document, stride) if stride else [0])
    ]
    found: dict[str, dict[str, float]] = {query: {} for query in run}
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        part = pairs[start : start + _PAIRS_AT_ONCE]
        scores = _scores(model, inputs, part, pad, batch_size, dtype, device)
        for (query, document, _), score in zip(part, scores, strict=True):
            found[query][document] = max(score, found[query].get(document, score))
    return found


def _scores(
    model: Any,
    inputs: PairInputs,
    pairs: list[tuple[str, str, int]],
    pad: int,
    batch_size: int,
    dtype: str,
    device: Any,
) -> list[float]:
    import numpy as np
    import torch

    ids = sequences(inputs, pairs)
    scores = np.zeros(len(pairs), dtype=np.float32)
    kind = torch.device(device).type
    batches = similar_batches(ids.lengths, batch_size, kind)
    precision = torch.autocast(kind, dtype=torch.bfloat16) if dtype == "bfloat16" else contextlib.nullcontext()
    model.eval()
    shortened = only_first_state(model.backbone) if model.pooling == "first" else contextlib.nullcontext()
    with torch.inference_mode(), precision, shortened:
        for rows in batches:
            tokens, mask = (tensor.to(device) for tensor in padded(ids, rows, pad))
            scores[rows] = model(tokens, mask).float().cpu().numpy()
    return scores.tolist()
