"""Cross-entropy of DEPTH and T5, split into sentence and reconstruction parts (DEPTH, section 3.3; spec 2.5)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from reprlab.objectives.masked_seq2seq import decoder_states, project
from reprlab.objectives.objective import IGNORED
from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch

    from reprlab.objectives.attention_masks import AttentionMasks


def decomposed_loss(
    logits: torch.Tensor, labels: torch.Tensor, vocabulary: Vocabulary, weight: float | None = None
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Mean cross-entropy, or the weighted variants of Figure 10, with sums and counts of its parts.

    Without `weight`: (sum over sentence labels + sum over the rest) / (their number); with it: weight * mean_s +
    mean_r. Sentence labels are SENT and EOSEN.

    Args:
        logits: [N, V]; labels: [N], -100 is left out.

    Returns:
        the scalar to minimise, and detached scalars in float64: `loss_sum`, `count`, `sentence_loss_sum`,
        `sentence_count`, `reconstruction_loss_sum`, `reconstruction_count`, and hits of the argmax and numbers of
        labels: `sent_correct`, `sent_count`, `eosen_correct`, `eosen_count`, `correct`, `total`.
    """
    import torch
    from torch.nn import functional

    losses = functional.cross_entropy(logits.float(), labels, reduction="none", ignore_index=IGNORED)
    counted = labels != IGNORED
    sent, eosen = vocabulary.is_sentence(labels), labels == vocabulary.eosen_id
    sentence = sent | eosen
    rest = counted & ~sentence
    sums = {"sentence": losses[sentence].sum(), "reconstruction": losses[rest].sum()}
    counts = {"sentence": sentence.sum(), "reconstruction": rest.sum()}
    if weight is None:
        loss = (sums["sentence"] + sums["reconstruction"]) / counted.sum().clamp(min=1)
    else:
        means = {name: sums[name] / counts[name].clamp(min=1) for name in sums}
        loss = weight * means["sentence"] + means["reconstruction"]
    with torch.no_grad():
        hits = logits.argmax(dim=-1) == labels
        parts = {
            "loss_sum": sums["sentence"] + sums["reconstruction"],
            "count": counted.sum(),
            "sentence_loss_sum": sums["sentence"],
            "sentence_count": counts["sentence"],
            "reconstruction_loss_sum": sums["reconstruction"],
            "reconstruction_count": counts["reconstruction"],
            "sent_correct": (hits & sent).sum(),
            "sent_count": sent.sum(),
            "eosen_correct": (hits & eosen).sum(),
            "eosen_count": eosen.sum(),
            "correct": (hits & counted).sum(),
            "total": counted.sum(),
        }
        parts = {name: value.detach().double() for name, value in parts.items()}
    return loss, parts


def batch_loss(
    model: Any,
    batch: dict[str, torch.Tensor],
    masks: AttentionMasks,
    vocabulary: Vocabulary,
    weight: float | None = None,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """`decomposed_loss` of a model on a batch with `encoder_ids`, `decoder_ids` and `labels`.

    Only the positions with a label are projected to the vocabulary: with a small model that projection is most of the
    work.
    """
    states = decoder_states(model, batch["encoder_ids"], batch["decoder_ids"], masks).flatten(0, 1)
    labels = batch["labels"].flatten()
    positions = (labels != IGNORED).nonzero().squeeze(-1)
    logits = project(model, states.index_select(0, positions))
    return decomposed_loss(logits, labels[positions], vocabulary, weight)


def seq2seq_loss(
    model: Any, batch: dict[str, torch.Tensor], vocabulary: Vocabulary, *, mask_padding: bool
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """`batch_loss` under the masks of a plain T5: padding hidden from encoder and cross-attention, or seen."""
    from reprlab.objectives.attention_masks import plain_masks
    from reprlab.objectives.masked_seq2seq import mask_dtype

    masks = plain_masks(
        batch["encoder_ids"],
        batch["decoder_ids"].shape[1],
        dtype=mask_dtype(model),
        pad_id=vocabulary.pad_id,
        mask_padding=mask_padding,
    )
    return batch_loss(model, batch, masks, vocabulary)


def unshuffling_chance(sentences: int) -> tuple[float, float]:
    """The loss of a model that knows the set of sentence tokens but not their order (spec 5.9).

    Returns:
        mean cross-entropy per SENT, ln(m!) / m, and accuracy when it guesses among the remaining ones, H_m / m.
    """
    entropy = math.lgamma(sentences + 1) / sentences
    accuracy = sum(1 / k for k in range(1, sentences + 1)) / sentences
    return entropy, accuracy


def chance_sentence_loss(sentences: int, shuffled: float = 0.5) -> float:
    """Mean sentence loss over SENT and EOSEN when EOSEN and unshuffled SENT are free (spec 5.9).

    Half of the sentence labels are EOSEN; `shuffled` is the share of shuffled batches.
    """
    return shuffled * 0.5 * unshuffling_chance(sentences)[0]
