"""Denominators of the two regimes, the ceiling of recall, and pairs that are related without a name."""

import numpy as np
import pytest
from reprlab.data.event_rows import Mention, event_row
from reprlab.evaluation.relation_scores import all_pair_scores, confusion
from reprlab.evaluation.resampling import percentiles, resample_sums
from reprlab.events.documents import EventDocument, event_document
from reprlab.events.pairs import Ranking, inference_pairs, known_pairs
from reprlab.events.rankings import pair_sets, rank_at_random
from reprlab.events.scoring import classification_rows, retrieval_items, retrieval_rows
from reprlab.events.settings import PairTask
from reprlab.runtime.errors import ReprlabError
from sklearn.metrics import precision_recall_fscore_support

LABELS = ["CAUSE", "ENTAILS"]


def document(size: int, relations: dict[tuple[int, int], str], name: str = "d") -> EventDocument:
    mentions = [Mention(f"m{n}", (n,)) for n in range(size)]
    named = [(f"m{head}", f"m{tail}", label) for (head, tail), label in relations.items()]
    row = event_row(name, name, [[f"w{n}" for n in range(size)]], mentions, named, name)
    return event_document({**row, "split": "test"})


def task(**changes: object) -> PairTask:
    return PairTask.model_validate({"events": {}, "labels": LABELS, "k": 1, **changes})


def ranking(*firsts: int) -> Ranking:
    """Each mention names one other first."""
    size = len(firsts)
    rest = [[other for other in range(size) if other not in (first, mention)] for mention, first in enumerate(firsts)]
    return Ranking(
        np.array([[first, *others] for first, others in zip(firsts, rest, strict=True)]), np.zeros((size,) * 2)
    )


def test_the_second_denominator_is_what_was_asked_and_the_related_pairs_that_were_not() -> None:
    """Regime 2: of six pairs two are asked, of three related ones one; the other two are missed."""
    one = document(4, {(0, 1): "CAUSE", (1, 2): "ENTAILS", (2, 3): "CAUSE"})
    # {0, 1} is related and asked, {0, 2} and {0, 3} are asked alone.
    asked = inference_pairs(one, ranking(1, 0, 0, 0), task())
    assert asked.pairs.tolist() == [[0, 1], [0, 2], [0, 3]]
    # Right, a relation that is none, right.
    rows = classification_rows([one], [asked], [np.array([1, 2, 0])], task(), "test")
    found = {(row["subset"], row["metric"]): (row["n"], row["value"]) for row in rows}
    assert found["related", "recall"] == (3, pytest.approx(100 / 3))
    assert found["all pairs", "accuracy"] == (6, pytest.approx(100 * 3 / 6)), "(1, 3) is rightly none as well"
    missed = 2
    assert found["retrieved or related", "accuracy"] == (3 + missed, pytest.approx(100 * 2 / 5))


def test_weighted_f1_is_the_harmonic_mean_of_weighted_precision_and_recall() -> None:
    """As the printed rows are; the mean of the labels' F1 by support, which scikit-learn gives, is another number."""
    gold, predicted = np.array([0] * 6 + [1] * 3 + [2]), np.array([0, 0, 0, 0, 1, 1, 1, 0, 2, 2])
    found = all_pair_scores(confusion(gold, predicted, 3))
    # Precision 4/5, 1/3 and 1/2, recall 4/6, 1/3 and 1, by 6, 3 and 1 of ten.
    p, r = found["weighted_precision"], found["weighted_recall"]
    assert (p, r) == (pytest.approx(63.0), pytest.approx(60.0))
    assert found["weighted_f1"] == pytest.approx(2 * 63 * 60 / 123, abs=1e-9)
    theirs = precision_recall_fscore_support(gold, predicted, average="weighted", zero_division=0.0)
    assert (100 * theirs[0], 100 * theirs[1]) == (pytest.approx(p), pytest.approx(r))
    assert abs(100 * theirs[2] - found["weighted_f1"]) > 0.5
    # Macro means are over the labels that occur.
    two = all_pair_scores(confusion(np.array([0, 0, 1]), np.array([0, 2, 1]), 3))
    assert (two["macro_recall"], two["macro_precision"]) == (pytest.approx(75), pytest.approx(100))


@pytest.mark.parametrize("directed", [False, True])
def test_no_run_names_more_relations_than_its_partners_can_keep(directed: bool) -> None:
    """Four mentions that are all related have six pairs, and one partner for each keeps four."""
    full = {(head, tail): "CAUSE" for head in range(4) for tail in range(head + 1, 4)}
    if directed:
        full |= {(tail, head): label for (head, tail), label in full.items()}
    one, asked = document(4, full), task(events={"directed": directed})
    known = known_pairs(one, asked)
    with pytest.raises(ReprlabError, match="d: 6 related pairs are named rightly, and k = 1 partners can keep 4"):
        classification_rows([one], [known], [known.labels], asked, "test")
    # Both directions of a kept pair are one pair; of all pairs every one may be right.
    kept = inference_pairs(one, ranking(1, 2, 3, 0), asked)
    for pairs, settings in ((kept, asked), (known, asked.model_copy(update={"inference": "all"}))):
        rows = classification_rows([one], [pairs], [pairs.labels], settings, "test")
        recall = next(row["value"] for row in rows if row["metric"] == "recall")
        assert recall == pytest.approx(100 * len(pairs.labels) / len(known.labels))


def test_intervals_are_of_a_thousand_draws_of_whole_documents() -> None:
    documents = [document(n, {(m, m + 1): "CAUSE" for m in range(n - 1)}, f"d{n}") for n in range(3, 15)]
    rankings = rank_at_random(documents, 0)
    found = {row["metric"]: row for row in retrieval_rows(documents, rankings, [2], "test")}["retrieval_recall"]
    items = retrieval_items(documents, rankings, [2], "test")
    counts = np.array([[one["recalled"], one["related"]] for one in items], dtype=float)
    sums = resample_sums(counts, 1000, 0)
    assert (found["low"], found["high"]) == pytest.approx(percentiles(100 * sums[:, 0] / sums[:, 1], 12), rel=1e-9)
    assert found["value"] == pytest.approx(100 * counts[:, 0].sum() / counts[:, 1].sum()) and found["n"] == 12


def test_what_a_ranking_recalls_above_the_ceiling_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = document(3, {(0, 1): "CAUSE"})
    monkeypatch.setattr("reprlab.events.scoring.most_pairs_kept", lambda related, k: 0)
    with pytest.raises(ReprlabError, match="d: 1 related pairs are kept, and k = 1 partners can keep 0"):
        retrieval_rows([one], {"d": ranking(1, 0, 0)}, [1], "test")


def test_a_relation_without_a_name_is_one_for_the_retriever_alone() -> None:
    """Label null of the Event StoryLine Corpus: a retriever is to find it, a classifier neither learns nor names it."""
    one = document(4, {(0, 1): "CAUSE", (2, 3): "null"})
    assert np.argwhere(np.triu(one.related)).tolist() == [[0, 1], [2, 3]]
    sets = pair_sets([one, document(3, {(0, 1): "CAUSE"}, "e")])
    assert np.argwhere(np.triu(sets[0].related)).tolist() == [[0, 1], [2, 3]]
    assert [part.rows.tolist() for part in sets] == [[0, 1, 2, 3], [4, 5, 6]]
    found = {row["metric"]: row["value"] for row in retrieval_rows([one], {"d": ranking(2, 2, 3, 2)}, [1], "test")}
    assert found["retrieval_recall"] == pytest.approx(50.0), "the pair without a name is the one that is found"
    assert found["density"] == pytest.approx(100 * 2 / 6)
    known = known_pairs(one, task())
    assert len(known.labels) == 5 and [2, 3] not in known.pairs.tolist()
    asked = inference_pairs(one, rank_at_random([one], 0)["d"], task(k=3))
    assert [2, 3] not in asked.pairs.tolist()
    rows = classification_rows([one], [asked], [asked.labels], task(k=3), "test")
    assert {row["n"] for row in rows if row["subset"] == "all pairs"} == {5}
