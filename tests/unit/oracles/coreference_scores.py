"""Coreference scores by the letter of their definitions, mention by mention, matching by matching.

MUC counts the links that are missing from a minimal chain of each cluster, B-cubed averages over mentions, and CEAF
tries every one-to-one matching of clusters. Nothing is taken from the library.
"""

from fractions import Fraction
from itertools import permutations


def joined(clusters):
    """Clusters without repeats; while two share a mention they are one."""
    sets = [set(cluster) for cluster in clusters if cluster]
    changed = True
    while changed:
        changed = False
        for one in sets:
            for other in sets:
                if one is not other and one & other:
                    sets.remove(other)
                    one |= other
                    changed = True
                    break
            if changed:
                break
    return sets


def _cluster(mention, clusters):
    return next((cluster for cluster in clusters if mention in cluster), {mention})


def _missing_links(clusters, others):
    """(links that the other side keeps, links) of minimal chains: mentions less the pieces they fall into."""
    kept = links = 0
    for cluster in clusters:
        pieces = {frozenset(_cluster(mention, others) & cluster) for mention in cluster}
        kept += len(cluster) - len(pieces)
        links += len(cluster) - 1
    return Fraction(kept), Fraction(links)


def _shares(clusters, others):
    known = set().union(*others) if others else set()
    total = Fraction(0)
    mentions = [mention for cluster in clusters for mention in cluster]
    for mention in mentions:
        mine = _cluster(mention, clusters)
        if mention in known:
            total += Fraction(len(mine & _cluster(mention, others)), len(mine))
    return total, Fraction(len(mentions))


def _best_matching(ours, theirs):
    few, many = sorted((ours, theirs), key=len)
    best = Fraction(0)
    for chosen in permutations(many, len(few)):
        total = sum(
            (Fraction(2 * len(one & other), len(one) + len(other)) for one, other in zip(few, chosen, strict=True)),
            Fraction(0),
        )
        best = max(best, total)
    return best


def counts(predicted, gold, drop_singletons=True):
    """By metric: numerator and denominator of precision, then of recall."""
    ours, theirs = joined(predicted), joined(gold)
    if drop_singletons:
        ours = [cluster for cluster in ours if len(cluster) > 1]
    matched = _best_matching(ours, theirs)
    return [
        [*_missing_links(ours, theirs), *_missing_links(theirs, ours)],
        [*_shares(ours, theirs), *_shares(theirs, ours)],
        [matched, Fraction(len(ours)), matched, Fraction(len(theirs))],
    ]


def conll_f1(counted):
    """Mean F1 of the three metrics, in percent."""

    def ratio(above, below):
        return above / below if below else Fraction(0)

    total = Fraction(0)
    for p, p_of, r, r_of in counted:
        precision, recall = ratio(p, p_of), ratio(r, r_of)
        total += ratio(2 * precision * recall, precision + recall)
    return float(100 * total / 3)
