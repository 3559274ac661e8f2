"""Chance level of un-shuffling at a mean number of sentences that is no whole number."""

import math

from reprlab.objectives.losses import chance_sentence_loss


def mixed_chance_loss(sentences: float) -> float:
    """Mean sentence loss of a model that knows which sentence tokens occur but not their order.

    Half of the batches are shuffled, EOSEN and unshuffled SENT cost nothing. Between whole numbers of sentences the
    value is interpolated.
    """
    below = max(1, math.floor(sentences))
    share = sentences - below
    return (1 - share) * chance_sentence_loss(below) + share * chance_sentence_loss(below + 1)
