"""DEPTH's hierarchical attention masks and plain T5's, as additive 4-D floats (DEPTH, section 3.2; spec 2.4).

transformers applies 4-D masks as they are only when they are float: boolean or integer ones are silently ignored under
eager attention. So all masks here hold 0 where attention is allowed and the dtype's minimum where it is not. They are
built on the device of the ids, in one [B, 1, rows, keys] tensor each; plain masks keep broadcast dimensions of 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch

Members = Literal["sent", "sent_eosen"]


class AttentionMasks(NamedTuple):
    """Additive masks of encoder self-attention, decoder self-attention and cross-attention."""

    encoder: torch.Tensor
    decoder: torch.Tensor
    cross: torch.Tensor


def plain_masks(
    encoder_ids: torch.Tensor, decoder_length: int, *, dtype: torch.dtype, pad_id: int = 0, mask_padding: bool = True
) -> AttentionMasks:
    """T5's masks: all keys in encoder and cross-attention (without padding), causal in the decoder.

    Args:
        encoder_ids: [B, Le].
        mask_padding: hide padded keys; False is upstream's choice for both models.

    Returns:
        [B or 1, 1, 1, Le], [1, 1, Ld, Ld], [B or 1, 1, 1, Le].
    """
    padding = _additive(_padding(encoder_ids, pad_id, mask_padding), dtype)
    return AttentionMasks(padding, _additive(_future(decoder_length, encoder_ids.device), dtype), padding)


def pretraining_masks(
    encoder_ids: torch.Tensor,
    encoder_types: torch.Tensor,
    decoder_ids: torch.Tensor,
    vocabulary: Vocabulary,
    *,
    dtype: torch.dtype,
    mask_rows: Members = "sent",
    mask_keys: Members = "sent",
    mask_padding: bool = True,
) -> AttentionMasks:
    """The table of spec 2.4: restricted rows see their own sentence (encoder) or sentence tokens only (decoder, cross).

    A decoder row always sees itself, and the start token, whose id is pad, is never masked.

    Args:
        encoder_ids: [B, Le]; each row holds a SENT token if its decoder row does.
        encoder_types: [B, Le] sentence numbers, 0 on padding.
        decoder_ids: [B, Ld] decoder input.
        mask_rows: which rows are restricted: SENT (what upstream's code does) or SENT and EOSEN (what the paper says).
        mask_keys: which keys restricted rows of the decoder see.
        mask_padding: hide padded keys in encoder and cross-attention; False is upstream.

    Returns:
        [B, 1, Le, Le], [B, 1, Ld, Ld], [B, 1, Ld, Le].
    """
    padding = _padding(encoder_ids, vocabulary.pad_id, mask_padding)
    rows = _members(decoder_ids, mask_rows, vocabulary)[:, None, :, None]
    decoder = rows & ~_members(decoder_ids, mask_keys, vocabulary)[:, None, None, :]
    decoder.diagonal(dim1=-2, dim2=-1).fill_(False)
    decoder |= _future(decoder_ids.shape[1], decoder_ids.device)
    cross = rows & ~_members(encoder_ids, mask_keys, vocabulary)[:, None, None, :]
    cross |= padding
    encoder = _encoder_blocked(encoder_ids, encoder_types, mask_rows, vocabulary)
    encoder |= padding
    return AttentionMasks(_additive(encoder, dtype), _additive(decoder, dtype), _additive(cross, dtype))


def finetuning_masks(
    encoder_ids: torch.Tensor,
    encoder_types: torch.Tensor,
    decoder_length: int,
    vocabulary: Vocabulary,
    *,
    dtype: torch.dtype,
    mask_padding: bool = True,
) -> AttentionMasks:
    """DEPTH's masks while fine-tuning: SENT and EOSEN rows of the encoder see their sentence, all else is plain T5.

    Args and result as in `pretraining_masks`; the decoder and cross masks are those of `plain_masks`.
    """
    # Known by the types, which count sentences from 1, and not by the id: an input may hold that of padding.
    plain = plain_masks(encoder_types, decoder_length, dtype=dtype, pad_id=0, mask_padding=mask_padding)
    encoder = _encoder_blocked(encoder_ids, encoder_types, "sent_eosen", vocabulary)
    encoder |= _padding(encoder_types, 0, mask_padding)
    return plain._replace(encoder=_additive(encoder, dtype))


def _encoder_blocked(
    encoder_ids: torch.Tensor, encoder_types: torch.Tensor, mask_rows: Members, vocabulary: Vocabulary
) -> torch.Tensor:
    import torch

    # A third of the time of comparing int64, over B * Le * Le pairs.
    numbers = encoder_types.to(torch.int16)
    other_sentence = numbers[:, None, :, None] != numbers[:, None, None, :]
    other_sentence &= _members(encoder_ids, mask_rows, vocabulary)[:, None, :, None]
    return other_sentence


def _members(ids: torch.Tensor, members: Members, vocabulary: Vocabulary) -> torch.Tensor:
    sentence = vocabulary.is_sentence(ids)
    return sentence | (ids == vocabulary.eosen_id) if members == "sent_eosen" else sentence


def _padding(encoder_ids: torch.Tensor, pad_id: int, mask_padding: bool) -> torch.Tensor:
    if not mask_padding:
        return encoder_ids.new_zeros((1, 1, 1, encoder_ids.shape[1])).bool()
    return (encoder_ids == pad_id)[:, None, None, :]


def _future(length: int, device: torch.device) -> torch.Tensor:
    import torch

    return torch.ones((length, length), dtype=torch.bool, device=device).triu_(1)[None, None]


def _additive(blocked: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    import torch

    return torch.zeros(blocked.shape, dtype=dtype, device=blocked.device).masked_fill_(blocked, torch.finfo(dtype).min)
