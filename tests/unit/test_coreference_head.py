"""The coreference head: sizes, pruning, buckets, masks and loss against slow and worked answers."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.coreference.documents import clusters_of
from reprlab.coreference.head import Antecedents, CoreferenceHead, document_loss
from reprlab.coreference.settings import HeadSettings
from reprlab.coreference.spans import candidate_spans, distance_buckets, uncrossed

PUBLISHED = HeadSettings(
    hidden=3000, max_span_width=30, span_ratio=0.4, max_spans=3900, max_antecedents=50, max_segments=11, dropout=0.3,
    genres=["pt", "bn", "nw", "wb", "tc", "bc", "mz"],
)  # fmt: skip
SMALL = PUBLISHED.model_copy(
    update={"hidden": 8, "max_span_width": 4, "max_antecedents": 5, "genres": [], "dropout": 0.0, "features": 3}
)


def sizes(settings: HeadSettings, width: int) -> dict[str, int]:
    with torch.device("meta"):
        head = CoreferenceHead(width, settings)
    found = {name: sum(one.numel() for one in part.parameters()) for name, part in head.named_children()}
    return {**found, "all": sum(found.values())}


def batch(length: int, sentence: int = 6) -> dict[str, torch.Tensor]:
    return {
        "sentence": torch.arange(length) // sentence,
        "segment": torch.arange(length) // 8,
        "speaker": torch.arange(length) // 5 % 2,
        "genre": torch.tensor(0),
        "mentions": torch.tensor([[0, 1], [7, 8]]),
        "clusters": torch.tensor([1, 1]),
    }


def test_parameters_of_the_published_size() -> None:
    """Section 5: every part, and 33,612,093 in all."""
    assert sizes(PUBLISHED, 768) == {
        "width": 600, "width_prior": 600, "distance_prior": 200, "genre": 140, "same_speaker": 40,
        "segment_distance": 220, "distance": 200, "token_attention": 769, "span_scorer": 6_978_001,
        "width_scorer": 66_001, "coarse": 5_403_300, "distance_scorer": 21, "pair_scorer": 21_162_001, "dropout": 0,
        "all": 33_612_093,
    }  # fmt: skip


def test_widths_of_the_small_size() -> None:
    """Section 5: for H = 64 the span vector has 212 numbers and the pair vector 716."""
    head = CoreferenceHead(64, PUBLISHED.model_copy(update={"hidden": 150}))
    assert (head.span_scorer.inner.in_features, head.pair_scorer.inner.in_features) == (212, 716)


def test_buckets() -> None:
    cases = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 5, 7: 5, 8: 6, 15: 6, 16: 7, 31: 7, 32: 8, 63: 8, 64: 9, 10**6: 9}
    assert distance_buckets(torch.tensor(list(cases))).tolist() == list(cases.values())


def test_candidates_stay_in_their_sentence() -> None:
    found = candidate_spans(torch.tensor([0, 0, 0, 1, 1]), 3).nonzero().tolist()
    assert {(start, start + width) for start, width in found} == {
        (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (3, 3), (3, 4), (4, 4),
    }  # fmt: skip


def crosses(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[0] <= one[1] < other[1] or other[0] < one[0] <= other[1] < one[1]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=25, unique=True), st.integers(1, 12))
def test_pruning_is_the_greedy_one_without_crossings(drawn: list, most: int) -> None:
    """Against the definition: in order, unless it crosses a taken span; nested ones are allowed."""
    spans = [(start, start + width) for start, width in drawn]
    expected: list[tuple[int, int]] = []
    for span in spans:
        if len(expected) < most and not any(crosses(span, other) for other in expected):
            expected.append(span)
    starts, ends = [one for one, _ in spans], [one for _, one in spans]
    found = [spans[place] for place in uncrossed(starts, ends, range(len(spans)), most, 14)]
    assert found[: len(expected)] == sorted(expected)
    assert len(found) == (most if spans else 0) and set(found[len(expected) :]) <= {min(expected, default=(0, 0))}


def whole_scores(head: CoreferenceHead, states: torch.Tensor, about: dict) -> dict:
    """Scores of all spans and pairs from whole span and pair vectors, one at a time, as sections 2.2.2 to 2.2.6 say."""
    vectors, mention = {}, {}

    def scored(scorer, vector):
        return scorer.outer(torch.relu(scorer.inner(vector)))[0]

    for start, width in candidate_spans(about["sentence"], head.settings.max_span_width).nonzero().tolist():
        end = start + width
        inside = states[start : end + 1]
        weights = head.token_attention(inside)[:, 0].softmax(0)
        vector = torch.cat([states[start], states[end], head.width.weight[width], weights @ inside])
        vectors[start, end] = vector
        mention[start, end] = scored(head.span_scorer, vector) + scored(
            head.width_scorer, head.width_prior.weight[width]
        )
    return {"vectors": vectors, "mention": mention, "scored": scored}


def test_scores_are_those_of_whole_vectors() -> None:
    """The projections apart give what the products of whole vectors give, for spans, coarse and fine scores."""
    torch.manual_seed(0)
    head = CoreferenceHead(6, SMALL).eval()
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    states, about = torch.randn(20, 6), batch(20)
    with torch.no_grad():
        found, whole = head(states, about), whole_scores(head, states, about)
        spans = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
        order = sorted(whole["mention"], key=lambda span: -whole["mention"][span])
        kept: list[tuple[int, int]] = []
        for span in order:
            if len(kept) < int(0.4 * 20) and not any(crosses(span, other) for other in kept):
                kept.append(span)
        assert spans == sorted(kept)
        for row in range(len(spans)):
            g, coarse, fine = whole["vectors"], {}, {}
            for place in range(row):
                one, other, bucket = spans[row], spans[place], distance_buckets(torch.tensor(row - place))
                prior = head.distance_scorer(head.distance_prior.weight[bucket])[0]
                coarse[place] = whole["mention"][one] + whole["mention"][other] + head.coarse(g[one]) @ g[other] + prior
                same = int(about["speaker"][one[0]] == about["speaker"][other[0]])
                apart = int(about["segment"][one[0]] - about["segment"][other[0]])
                features = [head.same_speaker.weight[same], head.genre.weight[0], head.segment_distance.weight[apart]]
                pair = torch.cat([g[one], g[other], g[one] * g[other], *features, head.distance.weight[bucket]])
                fine[place] = coarse[place] + whole["scored"](head.pair_scorer, pair)
            best = sorted(coarse, key=lambda place: -coarse[place])[:5]
            ours = dict(zip(found.places[row].tolist(), found.scores[row, 1:].tolist(), strict=True))
            finite = {place: score for place, score in ours.items() if math.isfinite(score)}
            assert finite.keys() == set(best)
            assert finite == pytest.approx({place: float(fine[place]) for place in best}, rel=1e-4, abs=1e-4)


def test_loss_of_equal_scores_counts_the_earlier_spans() -> None:
    """Section 5: with scores of 0 and no gold antecedent, span i gives log(1 + min(i, C)): later ones weigh nothing."""
    spans, most = 60, 50
    places = torch.arange(spans)[None].expand(spans, -1)
    scores = torch.where(places < torch.arange(spans)[:, None], 0.0, -torch.inf)
    best, kept = scores.topk(most, dim=1)
    every = torch.arange(spans)
    found = Antecedents(every, every, kept, torch.cat([torch.zeros(spans, 1), best], 1), torch.zeros(spans))
    expected = sum(math.log(1 + min(number, most)) for number in range(spans))
    assert float(found.loss(torch.zeros(spans, dtype=torch.long))) == pytest.approx(expected, rel=1e-5)
    # A gold antecedent that stands later in the text is none.
    numbers = torch.zeros(spans, dtype=torch.long)
    numbers[[3, 7]] = 1
    gold = expected - math.log(1 + 7) + math.log(1 + 7) - math.log(1)
    assert float(found.loss(numbers)) == pytest.approx(gold, rel=1e-5)


def test_without_a_span_in_common_with_gold_the_loss_and_its_gradient_are_finite() -> None:
    head = CoreferenceHead(6, SMALL)
    about = {**batch(20), "mentions": torch.zeros(0, 2, dtype=torch.long), "clusters": torch.zeros(0, dtype=torch.long)}
    states = torch.randn(20, 6, requires_grad=True)
    found = head(states, about)
    loss = document_loss(found, about)
    # Mentions have no loss of their own but where that is asked for.
    assert torch.equal(loss, document_loss(found, about, 0.0)) and not torch.equal(
        loss, document_loss(found, about, 1.0)
    )
    loss.backward()
    assert loss.isfinite() and states.grad.isfinite().all()
    assert all(one.grad is None or one.grad.isfinite().all() for one in head.parameters())


@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_shortest_texts(length: int) -> None:
    head = CoreferenceHead(6, SMALL)
    found = head(torch.randn(length, 6), batch(length))
    assert len(found.starts) == max(1, int(0.4 * length)) and found.best()[0] == -1


@settings(deadline=None)
@given(st.lists(st.integers(-1, 6), min_size=1, max_size=8))
def test_clusters_are_closed_over_links_and_have_two_mentions(antecedents: list) -> None:
    links = [min(place, number - 1) for number, place in enumerate(antecedents)]
    spans = [(number, number) for number in range(len(links))]
    found = [set(cluster) for cluster in clusters_of(spans, links)]
    assert all(len(cluster) > 1 for cluster in found)
    for number, place in enumerate(links):
        if place >= 0:
            assert any({spans[number], spans[place]} <= cluster for cluster in found)
    linked = {spans[end] for number, place in enumerate(links) if place >= 0 for end in (number, place)}
    assert set().union(*found) == linked if found else not linked
    assert all(not one & other for one, other in product(found, found) if one is not other)


def test_a_repeated_span_is_no_cluster_of_its_own() -> None:
    assert clusters_of([(0, 1), (0, 1)], [-1, 0]) == []


def test_training_lowers_the_loss_of_one_document() -> None:
    torch.manual_seed(0)
    wide = SMALL.model_copy(update={"span_ratio": 2.0, "max_span_width": 2, "hidden": 32})
    # Single tokens cross nothing, so that pruning keeps them.
    about = {**batch(30), "mentions": torch.tensor([[0, 0], [7, 7]])}
    head, states = CoreferenceHead(6, wide), torch.randn(30, 6)
    optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
    losses = []
    for _ in range(60):
        loss = document_loss(head(states, about), about)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.2 * losses[0]
    with torch.no_grad():
        found = head.eval()(states, about)
    spans = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
    assert [sorted(cluster) for cluster in clusters_of(spans, found.best())] == [[(0, 0), (7, 7)]]
    assert np.isfinite(losses).all()
