"""Check 5.7: properties of DEPTH's attention masks, on a small random T5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reprlab.papers.depth.audit_objective import KNOWN, VOCABULARY, depth_batch, generator
from reprlab.reporting.audit import AuditRow, check

if TYPE_CHECKING:
    import torch

_ROWS = 4


def mask_checks() -> list[AuditRow]:
    """Check 5.7, one row per property."""
    return list(_checks())


def _checks() -> Iterator[AuditRow]:
    import torch

    from reprlab.objectives.attention_masks import plain_masks, pretraining_masks
    from reprlab.objectives.masked_seq2seq import seq2seq_logits

    encoder_ids, types, decoder_ids = _batch()
    masks = pretraining_masks(encoder_ids, types, decoder_ids, VOCABULARY, dtype=torch.float32)
    own = masks.decoder.squeeze(1).diagonal(dim1=-2, dim2=-1) == 0
    yield _all("5.7a", "every decoder row sees its own position", own)
    sent = VOCABULARY.is_sentence(encoder_ids)
    ones = (masks.encoder.squeeze(1) == 0).sum(-1)
    lengths = (types[:, :, None] == types[:, None, :]).sum(-1)
    yield _all(
        "5.7b", "a SENT row of the encoder mask has as many ones as its sentence has tokens", (ones == lengths)[sent]
    )
    model = _model()
    yield _encoder_is_local(model, encoder_ids, types, masks)
    yield _decoder_is_restricted(model, encoder_ids, decoder_ids, masks)
    # Without SENT tokens nothing is restricted: the words alone, in both models.
    words = encoder_ids.clone()
    words[sent | (words == VOCABULARY.eosen_id)] = 7
    targets = torch.full_like(decoder_ids, 9)
    targets[:, 0] = 0
    ours = seq2seq_logits(
        model, words, targets, pretraining_masks(words, types, targets, VOCABULARY, dtype=torch.float32)
    )
    plain = seq2seq_logits(model, words, targets, plain_masks(words, targets.shape[1], dtype=torch.float32))
    yield _all("5.7e", "without SENT tokens the logits are bit for bit those of plain T5", ours == plain)


def _all(id: str, what: str, truth: torch.Tensor) -> AuditRow:
    total = truth.numel()
    return check(id, f"masks: {what}", f"{total:,} of {total:,}", f"{int(truth.sum()):,} of {total:,}", KNOWN)


def _batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    import torch

    from reprlab.objectives.depth import Objective, Settings

    ids, types, lengths = depth_batch(rows=_ROWS)
    batch = Objective(Settings(), VOCABULARY, 512, 512).collate(ids, types, lengths, generator(6), shuffled=True)
    return tuple(torch.from_numpy(batch[name]) for name in ("encoder_ids", "encoder_types", "decoder_ids"))  # type: ignore[return-value]


def _model() -> Any:
    import torch

    from reprlab.config.models import ModelEntry
    from reprlab.models.build import build_from_config

    shape = {"d_model": 32, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2}
    entry = ModelEntry.model_validate(
        {
            "architecture": "t5",
            "config": {**shape, "vocab_size": VOCABULARY.padded_size, "dropout_rate": 0.0},
            "source": "one layer, for the audit",
            "tie_output": True,
            "origin": {"kind": "scratch"},
        }
    )
    return build_from_config(entry, seed=0).eval().requires_grad_(False).to(torch.float32)


def _encoder_is_local(model: Any, ids: torch.Tensor, types: torch.Tensor, masks: Any) -> AuditRow:
    """Change a word of the second sentence: the first layer's output at the other sentences' SENT stays."""
    from reprlab.objectives.masked_seq2seq import encode

    changed = ids.clone()
    for row in range(len(ids)):
        words = ((types[row] == 2) & (ids[row] < VOCABULARY.pieces) & (ids[row] > 2)).nonzero()
        changed[row, words[0]] = 11
    before, after = encode(model, ids, masks.encoder), encode(model, changed, masks.encoder)
    others = VOCABULARY.is_sentence(ids) & (types != 2)
    same = (before == after).all(-1)
    return _all("5.7c", "SENT after the first encoder layer ignores other sentences", same[others])


def _decoder_is_restricted(model: Any, encoder_ids: torch.Tensor, decoder_ids: torch.Tensor, masks: Any) -> AuditRow:
    """Change every earlier word of the decoder input: the self-attention's output at SENT rows stays."""
    sent = VOCABULARY.is_sentence(decoder_ids)
    changed = decoder_ids.clone()
    changed[(decoder_ids < VOCABULARY.first_sentence) & (decoder_ids > 0)] = 13
    attention = model.decoder.block[0].layer[0]
    outputs = [attention(model.shared(ids), attention_mask=masks.decoder)[0] for ids in (decoder_ids, changed)]
    same = (outputs[0] == outputs[1]).all(-1)
    return _all("5.7d", "SENT after the first decoder self-attention ignores all words", same[sent])
