"""What models read of events, which pairs they are trained and used on, and how answers are scored."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from event_samples import document
from finetune_fixtures import make_bert, make_t5, make_tokenizer
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st
from reprlab.data.event_rows import Mention, event_row
from reprlab.evaluation.relation_scores import all_pair_scores, confusion, related_scores
from reprlab.events import classification
from reprlab.events.classification import open_classifier, predict_labels
from reprlab.events.documents import EventDocument, event_document, split_events
from reprlab.events.encodings import mention_texts, pair_text
from reprlab.events.mention_inputs import mention_pieces
from reprlab.events.pairs import (
    Ranking,
    inference_pairs,
    known_pairs,
    read_candidates,
    training_pairs,
    write_candidates,
)
from reprlab.events.rankings import rank_at_random, rank_by_chain, rank_mentions
from reprlab.events.scoring import classification_rows, confusions, gold_ranking, retrieval_rows
from reprlab.events.settings import EventSelection, PairClassification
from reprlab.events.windows import encode_documents, open_word_tokenizer
from reprlab.retrieval.search import rank_by_score
from reprlab.runtime.errors import ReprlabError
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.training.settings import EngineSettings, OptimizerSettings
from sklearn.metrics import precision_recall_fscore_support
from tokenizers.processors import TemplateProcessing

ENGINE = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-2))


def settings(**changes: object) -> PairClassification:
    base = {
        "events": {},
        "kind": "discriminative",
        "labels": ["CAUSE", "ENTAILS"],
        "k": 2,
        "engine": ENGINE,
        "epochs": 1,
    }
    return PairClassification.model_validate({**base, **changes})


def broken_up() -> object:
    """A trigger of two runs, and a sentence before it."""
    mentions = [Mention("a", (1,), "", 0), Mention("b", (3, 5), "", 0), Mention("c", (7,), "")]
    row = event_row("d", "g", [["He", "left", "."], ["took", "it", "off", "and", "ran"]], mentions, [], "x")
    return event_document({**row, "split": "train"})


def test_encodings() -> None:
    found = broken_up()
    assert mention_texts(found, "wrapped") == [  # type: ignore[arg-type]
        "He <m> left </m> .",
        "<m> took </m> it <m> off </m> and ran",
        "took it off and <m> ran </m>",
    ]
    assert mention_texts(found, "trigger", chains=True) == [  # type: ignore[arg-type]
        "<m> left </m> <coref> took off",
        "<m> took off </m> <coref> left",
        "<m> ran </m>",
    ]
    assert pair_text("a", "b") == "Classify: Mention 1: a <sep> Mention 2: b"


def test_long_texts_are_cut_around_the_trigger(tmp_path: Path) -> None:
    make_tokenizer(tmp_path)
    tokenizer = load_tokenizer(tmp_path)
    tokens = [f"good{n}" for n in range(40)]
    row = event_row("d", "g", [[*tokens, "film", *tokens]], [Mention("a", (40,))], [], "x")
    ((ids,),) = mention_pieces(tokenizer, [event_document({**row, "split": "train"})], EventSelection(), 12)
    assert len(ids) == 12 and tokenizer.convert_tokens_to_ids("film") in ids


def test_windows_hold_whole_sentences_and_every_trigger(tmp_path: Path) -> None:
    make_tokenizer(tmp_path)
    tokenizer = open_word_tokenizer(tmp_path)
    documents = [document(size=9), broken_up()]
    whole = encode_documents(tokenizer, documents, 512)  # type: ignore[arg-type]
    assert [len(one.windows) for one in whole] == [1, 1]
    for one, cut in zip(whole, encode_documents(tokenizer, documents, 6), strict=True):  # type: ignore[arg-type]
        assert all(len(window) <= 6 for window in cut.windows) and len(cut.windows) > 1
        ids, wanted = ([e.windows[w][p] for w, p in zip(e.window_of, e.place_of, strict=True)] for e in (cut, one))
        assert ids == wanted and cut.mention_of.tolist() == one.mention_of.tolist()
    # A sentence longer than a window is cut, and not inside a trigger of adjacent words.
    row = event_row("d", "g", [["a"] * 5 + ["good", "film"] + ["b"] * 5], [Mention("m", (5, 6))], [], "x")
    (long,) = encode_documents(
        tokenizer, [event_document({**row, "split": "train"})], 7 + len(tokenizer("")["input_ids"]) - 1
    )
    assert len(set(long.window_of.tolist())) == 1


def test_windows_end_at_sentences(tmp_path: Path) -> None:
    """And each has the special tokens around it, for which there must be room."""
    make_tokenizer(tmp_path)
    tokenizer = open_word_tokenizer(tmp_path)
    ends = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("_", "</s>")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="_ $A </s>", special_tokens=ends)
    sentences = [["the", "film", "was", "good"], ["very", "bad", "."], ["a", "b"]]
    mentions = [Mention("m", (3,)), Mention("n", (4, 5)), Mention("o", (8,))]
    one = event_document({**event_row("d", "g", sentences, mentions, [], "x"), "split": "train"})
    for room, wanted in ((9, [(0, 1, 2)]), (7, [(0, 1), (2,)]), (6, [(0,), (1, 2)]), (4, [(0,), (1,), (2,)])):
        (found,) = encode_documents(tokenizer, [one], room + 2)
        windows = [tokenizer.convert_ids_to_tokens(window) for window in found.windows]
        assert windows == [["_", *(word for n in run for word in sentences[n]), "</s>"] for run in wanted], room
        places = zip(found.window_of, found.place_of, found.mention_of, strict=True)
        assert [(windows[w][p], m) for w, p, m in places] == [("good", 0), ("very", 1), ("bad", 1), ("b", 2)]


def test_candidates_are_read_as_written(tmp_path: Path) -> None:
    documents = [document("a", size=5), document("b", size=1), document("c", size=2)]
    rankings = rank_at_random(documents, seed=1)
    write_candidates(tmp_path / "x.parquet", rankings)
    found = read_candidates(tmp_path / "x.parquet", documents[::-1])
    for name, ranking in rankings.items():
        assert (found[name].ranked == ranking.ranked).all()
        np.testing.assert_allclose(found[name].scores, ranking.scores, rtol=1e-6)
    with pytest.raises(ReprlabError, match="does not rank the 4 mentions of a"):
        read_candidates(tmp_path / "x.parquet", [document("a", size=4)])


def test_training_has_all_positives_and_inference_only_what_was_retrieved() -> None:
    one = document(size=7)
    ranking = rank_at_random([one], seed=0)["d"]
    rng = np.random.default_rng(0)
    known = known_pairs(one, settings())
    hard = training_pairs(one, ranking, settings(), rng)
    asked = inference_pairs(one, ranking, settings())
    assert int((hard.labels > 0).sum()) == int((known.labels > 0).sum()) == 6
    assert int((asked.labels > 0).sum()) < 6, "the sample must have a positive that is not retrieved"
    assert int((hard.labels == 0).sum()) == int((asked.labels == 0).sum())
    drawn = training_pairs(one, ranking, settings(negatives="random", inference="all"), rng)
    assert sorted(drawn.labels.tolist()) == sorted(hard.labels.tolist()) and drawn.pairs.tolist() != hard.pairs.tolist()
    everything = settings(negatives="all", inference="all")
    assert (
        len(training_pairs(one, ranking, everything, rng).labels)
        == len(inference_pairs(one, ranking, everything).labels)
        == 21
    )
    assert len(inference_pairs(one, ranking, settings(k=6)).labels) == 21, "k = n - 1 is all pairs"
    with pytest.raises(ValueError, match="goes with inference: all"):
        settings(negatives="all")


def test_every_unrelated_pair_is_as_likely_a_random_negative() -> None:
    one, draws = document(size=7), 300
    ranking, given = rank_at_random([one], seed=0)["d"], settings(negatives="random", inference="all")
    counts: dict[tuple[int, int], int] = {}
    for seed in range(draws):
        found = training_pairs(one, ranking, given, np.random.default_rng(seed))
        for pair in found.pairs[found.labels == 0].tolist():
            counts[tuple(pair)] = counts.get(tuple(pair), 0) + 1
    known = known_pairs(one, given)
    share = sum(counts.values()) / draws / int((known.labels == 0).sum())
    assert len(counts) == int((known.labels == 0).sum())
    # Five standard deviations of a count.
    assert all(abs(count - draws * share) < 5 * (draws * share * (1 - share)) ** 0.5 for count in counts.values())


def test_another_seed_is_another_random_order() -> None:
    one, other = (rank_at_random([document(size=7)], seed=seed)["d"].ranked for seed in (0, 1))
    assert (one != other).any()


def test_the_held_out_score_is_f1(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of answers that name every pair a relation, recall is much higher than F1."""
    one, given = document(size=7), settings(k=6)
    gold = inference_pairs(one, rank_at_random([one], seed=0)["d"], given).labels
    answers = np.ones_like(gold)
    monkeypatch.setattr(classification, "predict_labels", lambda *_, **__: [answers])
    classifier = SimpleNamespace(settings=given)
    found = classification.held_out_f1(classifier, [one], rank_at_random([one], seed=0), device="cpu")
    precision, recall, f1, _ = precision_recall_fscore_support(gold, answers, labels=[1, 2], average="micro")
    assert recall > 2 * precision and found == pytest.approx(100 * f1)


def test_a_document_is_ranked_alike_whatever_documents_stand_before_it() -> None:
    documents = [document(name) for name in ("a", "b", "c")]
    there, back = rank_at_random(documents, seed=3), rank_at_random(documents[::-1], seed=3)
    assert all((there[name].ranked == back[name].ranked).all() for name in ("a", "b", "c"))
    assert (there["a"].scores != there["b"].scores).any()


def hardness(documents: list[EventDocument], rankings: dict[str, Ranking]) -> tuple[float, float, float]:
    rows = retrieval_rows(documents, rankings, [2], "test")
    (found,) = ((row["value"], row["low"], row["high"]) for row in rows if row["metric"] == "hardness")
    return found


def test_negatives_are_hard_by_words_and_random_vectors_find_none() -> None:
    """By its own scores a retriever's negatives are hard whatever it knows: random vectors had 0.83, it 0.74."""
    rng = np.random.default_rng(0)
    words = [f"w{place}" for place in range(6)]
    documents = []
    for number in range(40):
        # Half of the mentions stand in sentences about one thing, half about another.
        text = [[*rng.permutation(words[:3] if mention % 2 else words[3:]), "did"] for mention in range(8)]
        tokens, starts = tuple(word for one in text for word in one), tuple(range(0, 32, 4))
        given = (f"d{number}", "g", "test", tokens, starts, tuple((start + 3,) for start in starts), (-1,) * 8)
        documents.append(EventDocument(*given, {(0, 1): "CAUSE"}))
    vectors = [rng.normal(size=(8, 16)) for _ in documents]
    value, low, high = hardness(documents, rank_mentions(documents, vectors))
    assert low < 0 < high and abs(value) < 5
    same = [np.eye(2)[np.arange(8) % 2] + 0.01 * rng.normal(size=(8, 2)) for _ in documents]
    value, low, _ = hardness(documents, rank_mentions(documents, same))
    assert low > 20 and hardness(documents[::-1], rank_mentions(documents, same))[0] == pytest.approx(value)


def test_a_ranking_by_chains_reads_no_text_and_depends_on_no_other_document() -> None:
    one = replace(document(size=6), chains=(0, 0, 0, 1, 1, -1))
    found = rank_by_chain([one], seed=0)["d"]
    assert set(found.ranked[5][:3]) == {0, 1, 2} and set(found.ranked[0][:2]) == {1, 2} and found.ranked[0][-1] == 5
    assert (found.ranked == rank_by_chain([document("e"), one], seed=0)["d"].ranked).all()


def test_labels_outside_the_set_are_in_no_part() -> None:
    one = document(size=5)
    assert len(known_pairs(one, settings(labels=["CAUSE"])).labels) == 10 - 2
    directed = known_pairs(one, settings(events={"directed": True}))
    assert len(directed.labels) == 20 and int((directed.labels > 0).sum()) == 4


def test_folds_are_runs_of_groups() -> None:
    documents = [document(f"d{n}", "validation" if n == 10 else "train", str(n)) for n in range(11)]
    parts = split_events(documents, 5, 1)
    assert [one.group for one in parts["test"]] == ["2", "3"] and len(parts["train"]) == 8
    # By number, not by letter.
    numbered = [*(document(n, group=n) for n in ("10", "2", "11", "1")), documents[-1]]
    tested = [{one.group for one in split_events(numbered, 2, fold)["test"]} for fold in (0, 1)]
    assert tested == [{"1", "2"}, {"10", "11"}]
    with pytest.raises(ReprlabError, match="folds"):
        split_events(documents, 11, 0)
    with pytest.raises(ReprlabError, match="no document is in the test split"):
        split_events(documents, 0, 0)


# A busy machine makes any draw slow.
@limits(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60))
def test_scores_agree_with_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    gold, predicted = (np.array(part) for part in zip(*pairs, strict=True))
    table = confusion(gold, predicted, 4)
    for scores, labels, average, names in (
        (related_scores(table), [1, 2, 3], "micro", ("precision", "recall", "f1")),
        (all_pair_scores(table), sorted(set(gold)), "macro", ("macro_precision", "macro_recall", "macro_f1")),
        (all_pair_scores(table), [0, 1, 2, 3], "weighted", ("weighted_precision", "weighted_recall")),
    ):
        wanted = precision_recall_fscore_support(gold, predicted, labels=labels, average=average, zero_division=0.0)
        np.testing.assert_allclose([scores[name] for name in names], [100 * x for x in wanted[: len(names)]])
    assert all_pair_scores(table)["accuracy"] == pytest.approx(100 * (gold == predicted).mean())


def test_known_answers_of_the_scorer() -> None:
    one = document(size=6)
    known = known_pairs(one, settings())
    nothing = np.zeros(len(known.labels), dtype=np.int64)
    table = confusions(one, known, nothing, settings())[0]
    assert related_scores(table) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    assert all_pair_scores(table)["accuracy"] == pytest.approx(100 * (1 - 5 / 15))
    swapped = known.labels.copy()
    first = int(np.flatnonzero(swapped)[0])
    swapped[first] = 3 - swapped[first]
    table = confusions(one, known, swapped, settings())[0]
    assert related_scores(table)["precision"] == related_scores(table)["recall"] == pytest.approx(100 * (1 - 1 / 5))


def test_a_positive_that_was_not_retrieved_is_missed_and_a_document_of_one_event_is_no_trouble() -> None:
    documents = [document("a", size=6), document("b", size=1)]
    rankings = rank_at_random(documents, seed=0)
    asked = [inference_pairs(one, rankings[one.name], settings(k=1)) for one in documents]
    right = [pairs.labels for pairs in asked]
    rows = classification_rows(documents, asked, right, settings(k=1), "test")
    score = {row["metric"]: row["value"] for row in rows if row["subset"] == "related"}
    assert score["precision"] == 100.0 and score["recall"] == pytest.approx(100 * (asked[0].labels > 0).sum() / 5)
    found = {row["metric"]: row["value"] for row in retrieval_rows(documents, rankings, [1], "test")}
    assert (
        found["retrieval_recall"] == pytest.approx(score["recall"])
        and max(found["retrieval_recall"], found["greedy_oracle"]) <= found["recall_ceiling"]
    )
    assert (found["candidates"], found["all_pairs"]) == (6, 30)


@pytest.mark.parametrize(
    ("size", "pairs", "k", "recall", "ceiling"),
    [
        (7, [(0, other) for other in range(1, 7)], 2, 100.0, 100.0),  # a star: each of the others names its middle
        (
            4,
            [(1, 0), (0, 2), (3, 0), (1, 2), (2, 3), (3, 1)],
            1,
            50.0,
            100 * 4 / 6,
        ),  # all name the first, it the second
        (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], 2, 100.0, 100.0),  # a ring: nobody has more than two
        (5, [(0, 4), (1, 3)], 1, 100.0, 100.0),
    ],
)
def test_relations_as_scores_recall_what_their_order_allows(
    size: int, pairs: list[tuple[int, int]], k: int, recall: float, ceiling: float
) -> None:
    """The ceiling is reached where no mention has more than k partners; ties by place may stay below it elsewhere."""
    rows = [Mention(f"m{n}", (n,)) for n in range(size)]
    links = [(f"m{head}", f"m{tail}", "CAUSE") for head, tail in pairs]
    one = event_document({**event_row("d", "g", [["good"] * size], rows, links, "x"), "split": "train"})
    scores = np.where(np.eye(size, dtype=bool), -np.inf, one.related.astype(float))
    for ranked in (gold_ranking(one), rank_by_score(scores, size - 1)):
        found = retrieval_rows([one], {"d": Ranking(ranked, scores)}, [k], "test")
        values = {row["metric"]: row["value"] for row in found}
        assert values["retrieval_recall"] == values["greedy_oracle"] == pytest.approx(recall)
        assert values["recall_ceiling"] == pytest.approx(ceiling)


@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_a_prediction_depends_on_its_pair_alone(kind: str, tmp_path: Path) -> None:
    """So pruning changes which pairs are classified, never the answer to one; document order changes nothing."""
    vocabulary = make_tokenizer(tmp_path)
    (make_bert if kind == "discriminative" else make_t5)(tmp_path, vocabulary)
    # Label words and a seed with which random weights do not answer alike to all.
    engine = ENGINE.model_copy(update={"seed": 4})
    given = settings(kind=kind, max_length=48, none="coherent", labels=["Coherent", "SParxiv"], engine=engine)
    documents = [document(f"d{n}", size=size) for n, size in enumerate((5, 1, 3, 6))]
    classifier = open_classifier(tmp_path, given)
    read = {token for one in documents for token in classifier.tokenizer.convert_tokens_to_ids(list(one.tokens))}
    assert classifier.tokenizer.unk_token_id not in read, "the tokenizer must know the words, or all inputs are one"
    every = settings(labels=["CAUSE", "ENTAILS"], inference="all")
    rankings = rank_at_random(documents, 0)
    everything = [inference_pairs(one, rankings[one.name], every) for one in documents]
    some = [inference_pairs(one, rankings[one.name], settings()) for one in documents]
    whole = predict_labels(classifier, documents, everything, device="cpu", batch_size=3)
    part = predict_labels(classifier, documents[::-1], some[::-1], device="cpu", batch_size=2)[::-1]
    assert set(np.concatenate(part).tolist()) == {0, 1, 2}, "answers must vary, or any two are the same"
    assert [len(labels) for labels in whole] == [10, 0, 3, 15]
    for asked, answers, kept, found in zip(everything, whole, some, part, strict=True):
        of = dict(zip(map(tuple, asked.pairs.tolist()), answers.tolist(), strict=True))
        assert found.tolist() == [of[tuple(pair)] for pair in kept.pairs.tolist()]


def test_only_the_generative_input_has_markers(tmp_path: Path) -> None:
    """The document is read without markers, the two sentences with them around each trigger, inside both mentions."""
    documents = [document(size=3)]
    pairs = [known_pairs(documents[0], settings())]
    found = {}
    for kind, make in (("discriminative", make_bert), ("generative", make_t5)):
        make(tmp_path / kind, make_tokenizer(tmp_path / kind))
        classifier = open_classifier(tmp_path / kind, settings(kind=kind, max_length=64))
        batch = classifier.prepare(documents, pairs).batch(np.array([0]))
        found[kind] = classifier.tokenizer.convert_ids_to_tokens(batch["input_ids"][0].tolist())
        reader = classifier.tokenizer
        if kind == "discriminative":
            words = reader(list(documents[0].tokens), is_split_into_words=True)["input_ids"]
            assert batch["input_ids"].tolist() == [words] and reader.convert_tokens_to_ids("<m>") == reader.unk_token_id
    assert found["discriminative"] == list(documents[0].tokens)
    marks = [token for token in found["generative"] if token in ("<m>", "</m>", "<sep>")]
    assert marks == ["<m>", "</m>", "<sep>", "<m>", "</m>"]


def test_relations_may_weigh_more_in_the_loss(tmp_path: Path) -> None:
    """A weight of three is three copies of each related pair."""
    import torch

    for kind, make in (("discriminative", make_bert), ("generative", make_t5)):
        make(tmp_path / kind, make_tokenizer(tmp_path / kind))
        losses = {}
        for weight in (1.0, 3.0):
            given = settings(kind=kind, max_length=64, relation_weight=weight, features="compared")
            classifier = open_classifier(tmp_path / kind, given)
            items = classifier.prepare([document(size=3)], [known_pairs(document(size=3), given)])
            batch = items.batch(np.arange(len(items)))
            classifier.model.eval()
            with torch.no_grad():
                loss, parts = classifier.loss(classifier.model, batch)
            losses[weight] = (float(loss * parts["count"]), float(parts["count"]))
        # Pairs 0-1 and 1-2 are related, 0-2 is not: (2 x 3 + 1) / 3 of the labels (label strings differ in length).
        if kind == "discriminative":
            assert (losses[1.0][1], losses[3.0][1]) == (3, 7)
        related = (losses[3.0][0] - losses[1.0][0]) / 2
        assert 0 < related < losses[1.0][0]
