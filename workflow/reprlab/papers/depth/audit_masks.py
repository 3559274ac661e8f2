"""Check 5.7: properties of DEPTH's attention masks, on a small random T5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reprlab.papers.depth.audit_objective import VOCABULARY, depth_batch
from reprlab.reporting.audit import Found, found
from reprlab.reporting.audit_records import Given

if TYPE_CHECKING:
    import torch


def properties(given: Given) -> Iterator[Found]:
    """Entries of masks, SENT tokens or logits that have the property."""
    import torch

    from reprlab.models.random_model import random_model
    from reprlab.objectives.attention_masks import plain_masks, pretraining_masks
    from reprlab.objectives.masked_seq2seq import seq2seq_logits

    _, batch = depth_batch(rows=4, seed=6, shuffled=True)
    encoder_ids, types, decoder_ids = (
        torch.from_numpy(batch[name]) for name in ("encoder_ids", "encoder_types", "decoder_ids")
    )
    masks = pretraining_masks(encoder_ids, types, decoder_ids, VOCABULARY, dtype=torch.float32)
    yield _all(masks.decoder.squeeze(1).diagonal(dim1=-2, dim2=-1) == 0)
    sent = VOCABULARY.is_sentence(encoder_ids)
    ones = (masks.encoder.squeeze(1) == 0).sum(-1)
    yield _all((ones == (types[:, :, None] == types[:, None, :]).sum(-1))[sent])
    shape = {"d_model": 32, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2}
    model = random_model("t5", vocab_size=VOCABULARY.padded_size, dropout_rate=0.0, **shape)
    yield _encoder_is_local(model, encoder_ids, types, masks)
    yield _decoder_is_restricted(model, decoder_ids, masks)
    # Without SENT tokens nothing is restricted: the words alone, in both models.
    words = encoder_ids.clone()
    words[sent | (words == VOCABULARY.eosen_id)] = 7
    targets = torch.full_like(decoder_ids, 9)
    targets[:, 0] = 0
    restricted = pretraining_masks(words, types, targets, VOCABULARY, dtype=torch.float32)
    ours = seq2seq_logits(model, words, targets, restricted)
    plain = seq2seq_logits(model, words, targets, plain_masks(words, targets.shape[1], dtype=torch.float32))
    yield _all(ours == plain)


def _all(truth: torch.Tensor) -> Found:
    return found(int(truth.sum()), truth.numel() > 0 and truth.all(), total=truth.numel())


def _encoder_is_local(model: Any, ids: torch.Tensor, types: torch.Tensor, masks: Any) -> Found:
    """Change a word of the second sentence: the first layer's output at the other sentences' SENT stays."""
    from reprlab.objectives.masked_seq2seq import encode

    changed = ids.clone()
    for row in range(len(ids)):
        words = ((types[row] == 2) & (ids[row] < VOCABULARY.pieces) & (ids[row] > 2)).nonzero()
        changed[row, words[0]] = 11
    same = (encode(model, ids, masks.encoder) == encode(model, changed, masks.encoder)).all(-1)
    return _all(same[VOCABULARY.is_sentence(ids) & (types != 2)])


def _decoder_is_restricted(model: Any, ids: torch.Tensor, masks: Any) -> Found:
    """Change every earlier word of the decoder input: the self-attention's output at SENT rows stays."""
    changed = ids.clone()
    changed[(ids < VOCABULARY.first_sentence) & (ids > 0)] = 13
    attention = model.decoder.block[0].layer[0]
    before, after = (attention(model.shared(each), attention_mask=masks.decoder)[0] for each in (ids, changed))
    return _all((before == after).all(-1)[VOCABULARY.is_sentence(ids)])
