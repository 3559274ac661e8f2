"""What un-shuffling gives to a model that knows which sentence tokens occur but not their order.

Such a model guesses uniformly among the sentence tokens that are still to come, so the j-th of m guesses is right
with probability 1/(m - j + 1).
"""

import math


def shuffled_sent_loss(sentences: float) -> float:
    """Mean cross entropy in nats per SENT token of a shuffled passage: ln(m!)/m. `sentences` may be a mean."""
    return math.lgamma(sentences + 1) / sentences


def shuffled_sent_accuracy(sentences: int) -> float:
    """Mean accuracy per SENT token of a shuffled passage: the harmonic number H_m divided by m."""
    return sum(1 / k for k in range(1, sentences + 1)) / sentences


def mixed_sentence_loss(sentences: float) -> float:
    """Mean cross entropy per sentence token when every EOSEN and every unshuffled SENT costs nothing.

    Half of the sentence tokens are EOSEN and half of the batches are shuffled, hence a quarter of ln(m!)/m.
    """
    return 0.25 * shuffled_sent_loss(sentences)
