"""Bi-encoders: each text becomes one vector, two vectors one score by dot product."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.inference.similar_batches import similar_batches
from reprlab.models.pooling import Pooling, pool
from reprlab.text.encoding import closed_ids
from reprlab.training.finetuning_encoding import Ragged

if TYPE_CHECKING:
    import numpy as np
    import torch


def encode_texts(tokenizer: Any, texts: Sequence[str], max_length: int) -> Ragged:
    """Ids of each text with the tokenizer's own special tokens; what is longer than `max_length` is cut before them."""
    return Ragged.of(closed_ids(tokenizer, texts, max_length) if texts else [])


def padded(ids: Ragged, rows: np.ndarray, pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids [B, L] and mask [B, L] of some texts."""
    import torch

    found, mask = ids.padded(rows, pad)
    return torch.from_numpy(found), torch.from_numpy(mask)


def embed(
    encoder: Any, ids: Ragged, pad: int, pooling: Pooling, *, batch_size: int = 64, dtype: str = "float32"
) -> np.ndarray:
    """[texts, d] float32: one forward for each text, in batches of similar length (results in the order given)."""
    import numpy as np
    import torch

    device = next(encoder.parameters()).device
    encoder.eval()
    precision = torch.autocast(device.type, dtype=torch.bfloat16) if dtype == "bfloat16" else contextlib.nullcontext()
    vectors = np.zeros((len(ids), encoder.config.hidden_size), dtype=np.float32)
    with torch.inference_mode(), precision:
        for rows in similar_batches(ids.lengths, batch_size, device.type):
            tokens, mask = (tensor.to(device) for tensor in padded(ids, rows, pad))
            states = encoder(input_ids=tokens, attention_mask=mask).last_hidden_state
            vectors[rows] = pool(states, mask, pooling).cpu().numpy()
    return vectors


def add_tokens(tokenizer: Any, model: Any, tokens: Sequence[str], seed: int) -> None:
    """Add special tokens to the tokenizer and rows for them to the embedding, drawn by the model's own rule.

    Every new row is a draw around the mean of the old ones (transformers' default), with the generator at `seed`.
    """
    import torch

    torch.manual_seed(seed)
    tokenizer.add_special_tokens({"extra_special_tokens": list(tokens)}, replace_extra_special_tokens=False)
    if len(tokenizer) > model.get_input_embeddings().weight.shape[0]:
        model.resize_token_embeddings(len(tokenizer))


def save_encoder(encoder: Any, tokenizer: Any, folder: Path) -> None:
    """Model and tokenizer in one folder."""
    from reprlab.models.build import save_model

    save_model(encoder, folder)
    tokenizer.save_pretrained(folder)
