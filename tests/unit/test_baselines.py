"""What needs no model, by kind of answer: known answers, and that nothing is fitted on what is scored."""

from itertools import product
from typing import get_args

import numpy as np
import pytest
from event_samples import document
from hypothesis import given
from hypothesis import strategies as st
from reprlab.baselines import declared as kinds
from reprlab.baselines import vectors
from reprlab.baselines.completions import answered
from reprlab.baselines.descriptions import described
from reprlab.baselines.examples import predict_baseline, seen_in_training
from reprlab.baselines.seen import seen_answers, sharing
from reprlab.baselines.texts import WORDS, constant_text, fitted_text, without_frame
from reprlab.baselines.track_labels import best_constants
from reprlab.baselines.transcripts import constant_answers, duration_alone
from reprlab.baselines.words import next_word_lookup, shape, tag_lookup, word_lookup
from reprlab.config.papers import SLUGS
from reprlab.evaluation.examples import ExampleTable
from reprlab.evaluation.metrics import rouge_l
from reprlab.events.baselines import relation_answers
from reprlab.events.pairs import known_pairs
from reprlab.events.settings import EventSelection, PairTask
from reprlab.planning.metric_list import COLUMNS, metric_rows
from reprlab.results.records import records_of
from reprlab.results.sources import Baseline, GatherSettings, Source, rivals
from reprlab.runtime.errors import ReprlabError
from reprlab.structure.formats import KINDS
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from tests.plans import plan_of

LOWER = {"wer", "cer", "loss", "loss_sum", "contrastive_loss"}


def test_every_kind_of_answer_has_baselines_and_every_task_of_pairs_a_kind():
    assert all(len(set(kinds.declared(kind))) == len(kinds.declared(kind)) > 0 for kind in get_args(kinds.AnswerKind))
    assert all(kinds.answer_of_pairs(task) in get_args(kinds.AnswerKind) for task in (*KINDS, "restoration"))
    assert kinds.answer_of("single") == "class" and kinds.answer_of("passages") is None


def test_all_metrics_have_a_direction_a_unit_and_a_range():
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in metric_rows()]
    assert {row["paper"] for row in rows} == set(SLUGS)
    for row in rows:
        assert row["better"] in ("higher", "lower", "neither") and float(row["least"]) < float(row["most"]), row
        assert row["scored"] == "no" or row["better"] != "neither", row
        assert (row["better"] == "lower") or row["metric"] not in LOWER, row
    alike = {}
    for row in rows:
        assert alike.setdefault(row["metric"], row["better"]) == row["better"], f"{row['metric']} has two directions"


@pytest.mark.parametrize("slug", SLUGS)
def test_scores_of_every_frame_are_judged_against_all_that_is_declared(slug):
    """The flag looks at the baselines of a source, and at no others."""
    records, plan = records_of(slug.replace("-", "_")), plan_of(slug)
    given = plan.job("gather_results", slug).settings["settings"]
    settings = (
        GatherSettings.model_validate_json(given) if isinstance(given, str) else GatherSettings.model_validate(given)
    )
    scored = {name for name, metric in records.metrics.items() if metric.scored}
    judged = 0
    for entry in settings.entries:
        if not isinstance(entry, Source) or entry.differences:
            continue
        names = [one.name for one in entry.baselines]
        if entry.answer is not None:
            judged += 1
            assert set(kinds.declared(entry.answer)) <= set(names), f"{entry.path}: {entry.answer} beside {names}"
        else:
            named = entry.where.get("metric", entry.wide)
            said = {named} if isinstance(named, str) else set(named)
            assert not names and (entry.unjudged or not said & scored), f"{entry.path}: {said & scored} beside nothing"
    assert bool(judged) == bool(scored), f"{slug} has scores, and none is judged"


def test_a_source_that_leaves_a_declared_baseline_out_is_refused(tmp_path):
    records = records_of("depth")
    only = Source(
        path=tmp_path / "s.tsv", answer="class", baselines=[Baseline(name="majority", path=tmp_path / "b.tsv")]
    )
    with pytest.raises(ReprlabError, match="beside tfidf as well"):
        records.check("depth", [only])
    with pytest.raises(ReprlabError, match="accuracy is beside no baseline"):
        records.check("depth", [Source(path=tmp_path / "s.tsv", where={"metric": "accuracy"})])
    more = Source(path=tmp_path / "s.tsv", **rivals("class", tmp_path / "b.tsv", ["random"]))
    records.check("depth", [more])


def _f(text, answers):
    return float(np.mean(rouge_l([[one] for one in answers], [text])) if len(answers) == 1 else
                 np.mean([rouge_l([[one]], [text])[0] for one in answers]))  # fmt: skip


def test_the_fitted_text_is_as_good_as_any_answer_and_each_addition_is_exact():
    answers = ["the cat sat on the mat", "the dog sat on a mat", "a cat lay on the mat"]
    found = constant_text(answers)
    assert _f(found, answers) >= max(_f(one, answers) for one in answers)
    assert constant_text([]) == constant_text(["", "..."]) == ""
    assert constant_text(["dogs", "dog"]) == "dog", "words of one stem are one word to ROUGE"


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4), min_size=1, max_size=4))
def test_one_more_word_at_any_place_does_not_help_the_fitted_text(texts):
    answers = [" ".join(one) for one in texts]
    found = constant_text(answers).split()
    best = _f(" ".join(found), answers)
    longer = ([*found[:at], word, *found[at:]] for at, word in product(range(len(found) + 1), "abc"))
    assert all(_f(" ".join(one), answers) <= best + 1e-9 for one in longer)


def test_texts_are_fitted_on_training_alone():
    sources = ["### Say: Ann went home", "### Say: Bob sang a song", "### Say: Eve met Bob"]
    answers = ["What will Ann do?", "What will Bob do?", "What will Eve do?"]
    asked = ["### Say: Zoe sang a song", "### Say: Bob's sister went home"]
    assert without_frame(sources, asked) == ["Zoe sang a song", "Bob's sister went home"]
    assert fitted_text("slot", sources, answers)(asked) == ["What will Zoe do?", "What will Bob do?"]
    assert fitted_text("nearest", sources, answers)(asked) == ["What will Bob do?", "What will Ann do?"]
    assert fitted_text("majority", sources, [*answers[:2], answers[1]])(asked) == [answers[1]] * 2
    assert fitted_text("lead", sources, ["ann went", "bob sang", "eve met"])(asked) == ["Zoe sang", "Bob's sister"]
    assert fitted_text("copy", sources, answers)(asked) == asked


def test_frames_are_cut_at_a_word_and_a_single_input_has_none():
    assert without_frame(["Q: b c", "Q: d e f"], ["Q: d e g", "b c"]) == ["d e g", "b c"]
    assert without_frame(["Q: ab", "Q: ac"], ["Q: ad"]) == ["ad"], "a word is never cut"
    assert without_frame(["a b c", "a b c"], ["a b d"]) == ["a b d"]


def test_of_equal_words_the_first_is_fitted_and_of_equal_texts_the_shorter():
    # Each letter helps as much as another: they are taken in alphabetical order and put in front.
    assert constant_text(list("kbedcfghij")) == "k j i h g f e d c b"
    # "a b" is as good as "a" on the mean, and the way to longer ones.
    assert constant_text(["a", "b c d e"]) == "a"


@pytest.mark.parametrize("kind", ["words", "characters"])
def test_vectors_of_texts_have_the_cosines_of_scikit_learn(kind):
    """Counts are dampened before they are scaled: a word that a text repeats outweighs none that it has once."""
    from reprlab.baselines.vectors import character_ngrams, word_vectors

    how = WORDS if kind == "words" else {"analyzer": "char_wb", "ngram_range": (3, 5)}
    training = ["good good good good bad", "a film", "bad", "the very best film", "good"]
    asked = ["good good good good bad", "bad", "film good", "good"]
    oracle = TfidfVectorizer(sublinear_tf=True, **how).fit(training).transform(asked)
    made = word_vectors if kind == "words" else character_ngrams
    found = made(training, 0, 2**14)(asked, "")
    assert np.abs(found @ found.T - (oracle @ oracle.T).toarray()).max() < 5 * (2 / 2**14) ** 0.5


@pytest.mark.parametrize("name", ["tfidf", "char_tfidf"])
def test_a_linear_classifier_is_that_of_scikit_learn(name, tmp_path, monkeypatch):
    """Random texts and labels, of which one change of the recipe answers some otherwise."""
    rng = np.random.default_rng(0)
    words = ["a", "film", "good", "bad", "very", "the", "was", "is", "not", "goods"]
    texts = [[" ".join(rng.choice(words, rng.integers(2, 14))) for _ in range(count)] for count in (80, 300)]
    labels = [str(rng.integers(3)) for _ in range(80)]
    tables = [
        ExampleTable(tmp_path, "single", ("0", "1", "2"), {"id": one, "text": one, "label": labels}) for one in texts
    ]
    how = (
        {"analyzer": "word", "ngram_range": (1, 2)}
        if name == "tfidf"
        else {"analyzer": "char_wb", "ngram_range": (2, 5)}
    )

    def oracle(c=10.0, sublinear_tf=True, **other):
        vectors = TfidfVectorizer(sublinear_tf=sublinear_tf, **{**how, **other})
        model = LogisticRegression(C=c, max_iter=1000).fit(vectors.fit_transform(texts[0]), labels)
        return model.predict(vectors.transform(texts[1])).tolist()

    found = predict_baseline(name, *tables, ("0", "1", "2"), 0)
    assert found == oracle()
    # Of character n-grams of a large set the most frequent ones alone.
    asked = []
    monkeypatch.setattr(
        "sklearn.feature_extraction.text.TfidfVectorizer",
        lambda **about: asked.append(about.get("max_features")) or TfidfVectorizer(**about),
    )
    assert predict_baseline(name, *tables, ("0", "1", "2"), 0) == found
    assert asked == [2**18 if name == "char_tfidf" else None]
    low, high = how["ngram_range"]
    others = [
        oracle(c=20.0),
        oracle(sublinear_tf=False),
        oracle(ngram_range=(low, high + 1)),
        oracle(ngram_range=(low + 1, high)),
    ]
    assert all(one != found for one in others), "the texts tell recipes apart"


def test_random_vectors_are_those_of_the_text_and_the_seed(tmp_path):
    """As many numbers as are declared, whatever the seed is."""
    texts = ["a film", "a film", "bad"]
    first, other = (vectors.BASELINES[vectors.RANDOM](tmp_path, seed)(texts, "") for seed in (0, 7))
    assert first.shape == other.shape == (3, vectors._RANDOM_WIDTH)
    assert (first[0] == first[1]).all() and not (first[0] == first[2]).any() and not (first == other).any()


def test_most_pairs_of_training_have_no_relation_and_the_commonest_relation_is_one():
    task = PairTask(events=EventSelection(), labels=["ENTAILS", "CAUSE"])
    training, asked = [document("a", size=6)], [document("b", size=4), document("c", size=7)]
    pairs = [known_pairs(one, task) for one in asked]
    found = relation_answers(training, asked, pairs, task)
    for place, known in enumerate(pairs):
        assert found["majority relation"][place].tolist() == [1] * len(known.labels), "three of five are the first"
        assert not found["no relation"][place].any()
    # The four sentences of one document are the first four of training, and so are their relations.
    assert found["pair of words"][0].tolist() == pairs[0].labels.tolist()
    assert len(found["pair of words"][1]) == len(pairs[1].labels) != len(pairs[0].labels)


def test_entities_of_the_scored_split_that_training_has(tmp_path):
    def table(tokens, tags):
        columns = {"id": [str(n) for n in range(len(tokens))], "tokens": tokens, "tags": tags}
        return ExampleTable(tmp_path, "tags", ("O", "B-PER"), columns)

    training = table([["Ann", "went"]], [["B-PER", "O"]])
    scored = table([["Ann"], ["Bob", "and", "Ann"], ["Bob"]], [["B-PER"], ["B-PER", "O", "B-PER"], ["B-PER"]])
    assert seen_in_training(training, scored) == 2 and seen_in_training(scored, training) == 1


def test_words_before_words_and_the_shape_of_new_ones():
    texts, tags = [["New", "York", "won"], ["New", "cars", "won"], ["U.N.", "won"]], [
        ["B-ORG", "I-ORG", "O"], ["O", "O", "O"], ["B-ORG", "O"],
    ]  # fmt: skip
    double = tag_lookup(next_word_lookup, texts, tags)
    assert double(["New", "York", "won"]) == ["B-ORG", "I-ORG", "O"] and double(["New", "cars"]) == ["O", "O"]
    assert shape("U.N.") == shape("E.U.") != shape("Un") and double(["E.U.", "won"]) == ["B-ORG", "O"]
    assert [shape(word) for word in ("McDonald-99", "Un", "x")] == ["XxXx-d", "Xx", "x"]
    assert tag_lookup(word_lookup, texts, tags)(["York", "York", "new"]) == ["B-ORG", "I-ORG", "O"]
    assert tag_lookup(word_lookup, [["a", "b"]], [["NN", "VB"]])(["b", "x"]) == ["VB", "NN"], "tags without spans"
    assert tag_lookup(word_lookup, [["a", "b"]], [["O", "NN"]])(["b"]) == ["NN"], "nor is one `O` a span"
    assert word_lookup([["a"] * 3], [["Y", "X", "Y"]])(["a"]) == ["Y"], "the commonest, and not the first"


def test_likeness_by_words_and_the_commonest_tag(tmp_path):
    """Cosines of TF-IDF: 1 of equal texts, 0 of texts without a common word, whatever the letters."""
    texts = {"text_a": ["cats sleep", "cats sleep"], "text_b": ["cats sleep", "dog barks"], "score": [1.0, 0.0]}
    likeness = ExampleTable(tmp_path, "similarity", (), {"id": ["0", "1"], **texts})
    assert predict_baseline("tfidf", likeness, likeness, (), 0) == pytest.approx([1, 0])
    assert predict_baseline("majority", likeness, likeness, (), 0) == [0.5, 0.5]
    tags = {"tokens": [["a", "b"], ["c"]], "tags": [["NN", "VB"], ["NN"]]}
    tagged = ExampleTable(tmp_path, "tags", ("NN", "VB"), {"id": ["0", "1"], **tags})
    assert predict_baseline("majority", tagged, tagged, tagged.labels, 0) == [["NN", "NN"], ["NN"]]


def test_choices_and_labels_of_prompts(tmp_path):
    told = {"choices": ["no", "yes it is good"], "answer": 1}
    said = [("wine", "yes"), ("rain", "no"), ("wine", "yes")]
    rows = [{"id": word, "prompt": f"is {word} good ?", "completion": answer, **told} for word, answer in said]
    found, seen = answered(tmp_path, "choice", rows[:1], rows)
    assert found == {"majority": ["1"] * 3, "longest": ["1"] * 3, "most words in common": ["1"] * 3} and seen is None
    found, _ = answered(tmp_path, "classification", rows, rows)
    assert found["tfidf"] == ["yes", "no", "yes"] and found["majority"] == ["yes"] * 3


def test_a_transcript_that_knows_the_duration_alone():
    texts, seconds = ["ababab", "abab", "ababababab"], [3.0, 2.0, 5.0]
    written = duration_alone(texts, seconds)
    assert [written(one) for one in (1.0, 4.0)] == ["ab", "abababab"]
    # Of eight characters a second half are one letter: at half the pace, and no letter of the other text helps.
    assert duration_alone(["aaaa", "bcdefghijklm"], [1.0, 1.0])(2.0) == "aaaaaaaa"
    found = constant_answers(texts, seconds, [2.0])
    assert list(found) == list(kinds.declared("transcript")) and found["nothing"] == [""]


def test_the_best_constant_is_chosen_in_training_measure_by_measure():
    tracks = [{"tempo": tempo, "key": key, "meter": meter, "seconds": 8.0} for tempo, key, meter in
              ((100.0, "C major", 4), (100.0, "G major", 2), (90.0, "C major", 3), (100.0, "C major", 4))]  # fmt: skip

    told = []

    def judge(track, heard):
        told.append((heard["meter"], heard["downbeats"]))
        meter = {2: 4}.get(track["meter"], track["meter"])
        return {"key": float(heard["key_label"] == track["key"]), "meter": float(heard["meter"] == meter)}

    found = best_constants(tracks[:3], tracks, judge)
    assert [one["meter"] for one in found] == [1, 1, 0, 1] and [one["key"] for one in found] == [1, 0, 1, 1]
    # Every bar that begins within eight seconds: of four beats of 0.6 s, or of three of two thirds of a second.
    bars = {4: [[0, 1], [2.4, 1], [4.8, 1], [7.2, 1]], 3: [[0, 1], [2, 1], [4, 1], [6, 1], [8, 1]]}
    assert {meter for meter, _ in told} == {3, 4}
    for meter, downbeats in told:
        assert downbeats == [pytest.approx(one) for one in bars[meter]]


def test_the_nearest_description_gets_the_words_of_the_lyrics():
    def track(kind, mood, story, **more):
        return {"type": kind, "genre": "folk", "lyrics_text": f"They are {mood} and tell of {story}.", **more}

    training = [track("film", "glad", "a feast", description="A glad video by the sea. It tells of a feast."),
                track("clip", "sad", "a loss", description="A sad video on a stage. It tells of a loss.")]  # fmt: skip
    found = described(training, [track("film", "sad", "a loss")])
    assert found["nearest with its lyrics"] == ["A sad video by the sea. It tells of a loss."]
    assert set(found) == set(kinds.declared("description"))
    # The words of the lyrics are exchanged: what is near by them alone is not taken.
    told = [track("film", "", "", lyrics_text="They shout.", description="They shout by the sea."),
            track("film noir", "", "", lyrics_text="We weep.", description="We weep on a stage.")]  # fmt: skip
    found = described(told, [track("film", "", "", lyrics_text="We weep.")])
    assert found["nearest with its lyrics"] == ["We weep by the sea."]
    assert found["nearest"] == ["We weep on a stage."]


def test_items_that_training_has_are_counted():
    assert seen_answers(["A  b"], ["a b", "a c"]) == 1
    assert sharing([[("Ann", "PER")]], [[("Ann", "PER"), ("T1", "ORG")], [("Ann", "ORG")], []]) == 1
