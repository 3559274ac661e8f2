"""Check 5.7: properties of DEPTH's attention masks, on a small random T5."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from reprlab.models.random_model import random_model
from reprlab.objectives.attention_masks import plain_masks, pretraining_masks
from reprlab.objectives.masked_seq2seq import encode, seq2seq_logits
from reprlab.papers.depth.audit_objective import VOCABULARY, depth_batch
from reprlab.reporting.audit import Found
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import held_at


def properties(given: Given) -> Iterator[Found]:
    """Entries of masks, SENT tokens or logits that have the property."""
    _, batch = depth_batch(rows=4, seed=6, shuffled=True)
    encoder_ids, types, decoder_ids = (
        torch.from_numpy(batch[name]) for name in ("encoder_ids", "encoder_types", "decoder_ids")
    )
    masks = pretraining_masks(encoder_ids, types, decoder_ids, VOCABULARY, dtype=torch.float32)
    yield held_at(masks.decoder.squeeze(1).diagonal(dim1=-2, dim2=-1) == 0)
    sent = VOCABULARY.is_sentence(encoder_ids)
    ones = (masks.encoder.squeeze(1) == 0).sum(-1)
    yield held_at((ones == (types[:, :, None] == types[:, None, :]).sum(-1))[sent])
    shape = {"d_model": 32, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2}
    model = random_model("t5", vocab_size=VOCABULARY.padded_size, dropout_rate=0.0, **shape)
    # A word of the second sentence changes: the first layer's output at the other sentences' SENT stays.
    changed = encoder_ids.clone()
    words = (types == 2) & (encoder_ids < VOCABULARY.pieces) & (encoder_ids > 2)
    changed[torch.arange(len(changed)), words.int().argmax(1)] = 11
    same = (encode(model, encoder_ids, masks.encoder) == encode(model, changed, masks.encoder)).all(-1)
    yield held_at(same[sent & (types != 2)])
    # Every word of the decoder input changes: the self-attention's output at SENT rows stays.
    changed = decoder_ids.clone()
    changed[(decoder_ids < VOCABULARY.first_sentence) & (decoder_ids > 0)] = 13
    attention, both = model.decoder.block[0].layer[0], (decoder_ids, changed)
    before, after = (attention(model.shared(ids), attention_mask=masks.decoder)[0] for ids in both)
    yield held_at((before == after).all(-1)[VOCABULARY.is_sentence(decoder_ids)])
    # Without SENT tokens nothing is restricted: the words alone, in both models.
    words = encoder_ids.clone()
    words[sent | (words == VOCABULARY.eosen_id)] = 7
    targets = torch.full_like(decoder_ids, 9)
    targets[:, 0] = 0
    restricted = pretraining_masks(words, types, targets, VOCABULARY, dtype=torch.float32)
    ours = seq2seq_logits(model, words, targets, restricted)
    plain = seq2seq_logits(model, words, targets, plain_masks(words, targets.shape[1], dtype=torch.float32))
    yield held_at(ours == plain)
