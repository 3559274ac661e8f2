"""Structure tasks as text, punctuation to restore, and their scores: the known answers of the specification."""

import time
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reprlab.data.passages import whole_sentences
from reprlab.structure import formats, restoration, scorers
from reprlab.structure.formats import BOUNDARY, items, source, target, words_and_boundaries
from reprlab.structure.restoration import MARKS, pair, strip, words
from reprlab.structure.scorers import (
    boundary_counts,
    item_counts,
    label_set_counts,
    macro_scores,
    restoration_counts,
    scores,
    tag_counts,
)

LEE = (
    'Lee "Faker" Sang-hyeok (Hangul: 이상혁) is a League of Legends esports player, currently mid laner and part owner '
    "at T1."
)
TOKENS = ["Faker", "plays", "for", "T1", "."]
NAMES = {"tokens": TOKENS, "tags": ["B-PER", "O", "O", "B-ORG", "O"]}
TRIPLES = {"heads": ["Faker", "T1"], "predicates": ["plays for", "has"], "tails": ["T1", "Faker"]}
ROLES = {
    "tokens": ["She", "said", "he", "left", "early", ",", "sadly"],
    "verbs": [1, 3],
    "tags": [
        *["B-ARG0", "B-V", "B-ARG1", "I-ARG1", "I-ARG1", "O", "B-ARG1"],
        *["O", "O", "B-ARG0", "B-V", "B-ARGM-TMP", "O", "O"],
    ],
}
word = st.text(st.characters(exclude_characters="()<>;:,", exclude_categories=["Z", "C"]), min_size=1, max_size=4)
any_text = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(MARKS + "  Aa(İΣ")), max_size=40)


def percent(counts, macro=False):
    return (macro_scores if macro else scores)(counts.sum(0)).round(6).tolist()


def test_the_pair_of_the_paper() -> None:
    """5.7: its own example, exactly."""
    assert pair(LEE) == (
        "lee faker sang-hyeok (hangul: 이상혁) is a league of legends esports player currently mid laner and part "
        "owner at t1",
        LEE,
    )
    assert strip("U.S. don't 3.5 ‘a’ “B” a-b") == "us dont 35 a b a-b"
    assert words('" He said , " no ! "') == ['"He', 'said,"', 'no!"']
    assert pair(' " . ') is None and pair("") is None


@given(any_text)
def test_pairs_hold_their_invariants(text: str) -> None:
    """5.7: deleting again changes nothing; no mark or capital is left; kept characters keep order and number."""
    made = pair(text)
    if made is None:
        assert not set(text.lower()) - set(MARKS) - {c for c in text if c.isspace()}
        return
    assert strip(made.target) == made.source == strip(made.source) == made.source.lower()
    assert not set(made.source) & set(MARKS)
    kept = [character for character in text if character not in MARKS and not character.isspace()]
    # A final sigma is one only before a space.
    assert made.source.replace(" ", "").casefold() == "".join(kept).lower().casefold()
    assert len(words(made.target)) == len(made.source.split())
    # What the model should write scores as right, and copying as no attempt.
    counts, skipped = restoration_counts([made.source] * 2, [made.target, made.source], [made.target] * 2)
    assert not skipped.any() and counts[0].tolist() == [counts[0, 2]] * 3 and counts[1, :2].tolist() == [0, 0]


@given(st.lists(st.integers(0, 12), max_size=20), st.integers(1, 10))
def test_passages_are_whole_sentences_up_to_a_length(sizes: list[int], most: int) -> None:
    sentences = [" ".join([f"s{number}"] * size) for number, size in enumerate(sizes)]
    made = [" ".join(one) for one in whole_sentences(sentences, most)]
    assert all(0 < len(one.split()) <= most for one in made)
    assert " ".join(made) == " ".join(s for s, size in zip(sentences, sizes, strict=True) if 0 < size <= most)
    # Greedy: the next sentence would not have fitted.
    if all(0 < size <= most for size in sizes):
        firsts = [one.split()[0] for one in made[1:]]
        assert all(
            len(one.split()) + sizes[int(first[1:])] > most for one, first in zip(made, firsts, strict=False)
        )  # fmt: skip


RESTORED = [
    ("A b, c d.", (3, 3, 3), (100, 100, 100)),
    ("A b c, d", (1, 2, 3), (50, 100 / 3, 40)),
    ("a b c d", (0, 0, 3), (0, 0, 0)),
]


@pytest.mark.parametrize(("written", "counts", "values"), RESTORED)
def test_known_answers_of_restoration(written: str, counts: tuple[int, ...], values: tuple[float, ...]) -> None:
    """5.8."""
    found, skipped = restoration_counts(["a b c d"], [written], ["A b, c d."])
    assert found.tolist() == [list(counts)] and skipped.tolist() == [0]
    assert scores(found[0]) == pytest.approx(values)


def test_a_dropped_word_skips_the_excerpt_and_its_problems_are_missed() -> None:
    """5.8, and section 2.3: upstream counts nothing of it."""
    given_texts = (["a b c d"], ["A b, d."], ["A b, c d."])
    ours, skipped = restoration_counts(*given_texts)
    assert ours.tolist() == [[0, 0, 3]] and skipped.tolist() == [1]
    assert restoration_counts(*given_texts, upstream=True)[0].tolist() == [[0, 0, 0]]


def test_marks_that_stand_alone_are_aligned_with_their_word() -> None:
    """2.3: the word before a lone mark differs by it; no excerpt is skipped for it."""
    counts, skipped = restoration_counts(["he said no"] * 2, ["He said , no .", "He said no ."], ["He said, no ."] * 2)
    assert counts.tolist() == [[3, 3, 3], [2, 2, 3]] and skipped.tolist() == [0, 0]


def test_precision_and_recall_are_what_they_are_called() -> None:
    """Traps T4 and T6: upstream's rewrite permutes the counts of restoration and exchanges both for chunks."""
    counts, _ = restoration_counts(["a b c d e"], ["A B C d e"], ["A b c d e"])
    assert scores(counts.sum(0)) == pytest.approx([100 / 3, 100, 50])
    counts, _ = tag_counts(["B-NP O O O"], ["B-NP B-NP B-NP O"])
    assert scores(counts.sum(0)) == pytest.approx([100 / 3, 100, 50])


def test_known_answers_of_entities() -> None:
    """5.9: a repeated item is right once; upstream's membership counts it twice."""
    gold, written = ["(Faker: PER) (T1: ORG)"], ["(T1: ORG) (T1: ORG) (X: LOC)"]
    counts, malformed = item_counts("ner", gold, written)
    assert counts.tolist() == [[1, 3, 2]] and malformed.tolist() == [0]
    assert percent(counts) == pytest.approx([100 / 3, 50, 40], abs=1e-5)
    upstream, _ = item_counts("ner", gold, written, upstream=True)
    assert upstream.tolist() == [[2, 3, 2]]
    # Nothing right is 0, where upstream's function returns one number instead of three.
    assert percent(item_counts("ner", gold, ["()"])[0]) == [0, 0, 0]
    assert item_counts("ner", gold, ["()"])[0].tolist() == [[0, 0, 2]]


def test_known_answer_of_tags() -> None:
    """5.10, and upstream's cut, which forgives what was not written."""
    assert tag_counts(["A B C"], ["X A B C"])[0].tolist() == [[0, 4, 3]]
    counts, changed = tag_counts(["A B C", "A O C"], ["A", "A O C"])
    assert counts.tolist() == [[1, 1, 3], [2, 2, 2]] and changed.tolist() == [1, 0]
    assert tag_counts(["A B C"], ["A"], upstream=True)[0].tolist() == [[1, 1, 1]]
    assert tag_counts(["A"], ["A B O"], upstream=True)[0].tolist() == [[1, 2, 1]]


def test_boundaries_are_counted_where_they_stand() -> None:
    gold = f"a b {BOUNDARY} a c {BOUNDARY} d"
    cases = {
        gold: ([2, 2, 2], 0),
        f"a b {BOUNDARY} a c d": ([1, 1, 2], 0),
        f"a b a {BOUNDARY} c d {BOUNDARY}": ([0, 1, 2], 0),
        # The first word is lost and another one added: the boundaries still stand behind b and c.
        f"b {BOUNDARY} a x c {BOUNDARY} d": ([2, 2, 2], 1),
        f"a b y {BOUNDARY} a c{BOUNDARY}d": ([1, 2, 2], 1),
        "": ([0, 0, 2], 1),
        f"{BOUNDARY} {BOUNDARY}": ([0, 0, 2], 1),
    }
    counts, changed = boundary_counts([gold] * len(cases), list(cases))
    assert counts.tolist() == [counted for counted, _ in cases.values()]
    assert changed.tolist() == [other for _, other in cases.values()]
    assert boundary_counts(["one"], ["one"])[0].tolist() == [[0, 0, 0]]


def test_upstreams_boundaries_are_sets_of_words() -> None:
    """A boundary at the wrong `a` is as good as one at the right one."""
    counts = label_set_counts([f"a b {BOUNDARY} c a b"], [f"a b c {BOUNDARY} a b"])
    assert counts.tolist() == [[[1, 1, 2], [0, 1, 1], [1, 2, 1]]]
    assert percent(counts, macro=True) == pytest.approx([50, 50, 100 * (2 / 3 + 0 + 2 / 3) / 3], abs=1e-5)
    assert label_set_counts(["one"], ["one"]).tolist() == [[[1, 1, 1], [0, 0, 0], [0, 0, 0]]]
    assert label_set_counts([], []).shape == (0, 3, 3)


def test_targets_are_those_of_the_paper() -> None:
    """Section 2.2; the paper's spaces, `; ` between the parts of a triple, and no end of sequence (trap T7)."""
    made = {
        "ner": (target("ner", NAMES), "(Faker: PER) (T1: ORG)"),
        "none": (target("ner", {"tokens": ["a"], "tags": ["O"]}), "O"),
        "openie": (target("openie", {"text": "x", **TRIPLES}), "(Faker; plays for; T1) (T1; has; Faker)"),
        "multitask": (
            target("multitask", {**NAMES, **TRIPLES}),
            "(Faker: PER) (Faker; plays for; T1) (T1: ORG) (T1; has; Faker)",
        ),
        "relations": (target("relations", {"text": "x", **TRIPLES}), "(Faker, plays for, T1) (T1, has, Faker)"),
        "srl": (target("srl", ROLES), "said (ARG0: She, ARG1: he left early sadly), left (ARG0: he, ARGM-TMP: early)"),
        "chunking": (target("chunking", {"tokens": ["a", "b"], "tags": ["B-NP", "I-NP"]}), "B-NP I-NP"),
        "sbd": (target("sbd", {"sentences": ["A  b.", "C."]}), "A b. <EOS> C."),
    }
    for name, (text, wanted) in made.items():
        assert text == wanted, name
        assert "</s>" not in text
    assert source("sbd", {"sentences": ["A  b.", "C."]}) == "A b. C." and source("ner", NAMES) == "Faker plays for T1 ."


def test_prompts_are_those_of_the_authors_code() -> None:
    """Section 2.2."""
    assert restoration.PROMPT == "Add punctuation as appropriate: "
    assert {task: formats.prompt(task) for task in get_args(formats.StructureTask)} == {
        "ner": "Find named entities: ",
        "openie": "Extract event or relation triples: ",
        "multitask": "Extract event or relation triples and named entities: ",
        "sbd": "Detect sentence boundaries: ",
        "chunking": "Perform chunking: ",
        "pos": "Identify parts of speech: ",
        "srl": "Identify semantic roles: ",
        "relations": "Classify relations: ",
    }


def test_items_are_ordered_by_their_first_mention_in_the_text() -> None:
    """Section 2.2: entities first on ties; a mention is a whole word, and tokens have their places in the text."""
    inside = {
        "text": "scar tissue and a car",
        "heads": ["car", "tissue"],
        "predicates": ["p", "q"],
        "tails": ["x", "y"],
    }
    assert target("openie", inside) == "(tissue; q; y) (car; p; x)"
    joint = {
        "text": "Faker's team, T1.", "tokens": ["Faker", "'s", "team", ",", "T1", "."],
        "tags": ["B-PER", "O", "O", "O", "B-ORG", "O"], "heads": ["T1"], "predicates": ["is"], "tails": ["a team"],
    }  # fmt: skip
    assert target("multitask", joint) == "(Faker: PER) (T1: ORG) (T1; is; a team)"
    marked = {**inside, "text": "USS. or tea, U.S.", "heads": ["S.", "tea"]}
    assert target("openie", marked) == "(tea; q; y) (S.; p; x)", "a letter before a mark is the edge of a word"
    nowhere = {**inside, "heads": ["bus", "a car"]}
    assert target("openie", nowhere) == "(a car; q; y) (bus; p; x)"


_said = st.sampled_from(["(", ")", "),", ",", "), x", "a", "b)", "(c", "ARG0:", "ARG1", "V:", "((", "))", "-LRB-"])


@given(
    st.lists(st.tuples(st.lists(_said, min_size=1, max_size=5), st.lists(_said, max_size=4)), min_size=1, max_size=3)
)
def test_roles_whose_words_are_parentheses_are_read_back(frames: list[tuple[list[str], list[str]]]) -> None:
    """Of each predicate its verb and one or two arguments; what was written has the form of the task."""
    tokens = [word for one, other in frames for word in ("eat", *one, *other)]
    verbs, tags, expected, start = [], [], [], 0
    for one, other in frames:
        own = ["O"] * len(tokens)
        own[start] = "B-V"
        place = start + 1
        for role, its in (("ARG0", one), ("ARGM-TMP", other)):
            if its:
                own[place : place + len(its)] = [f"B-{role}", *[f"I-{role}"] * (len(its) - 1)]
                expected.append((f"eat; {role.lower()}: ", "".join(its).replace(" ", "").lower()))
            place += len(its)
        verbs.append(start)
        tags += own
        start = place
    found = items("srl", target("srl", {"tokens": tokens, "verbs": verbs, "tags": tags}))
    assert found.malformed == 0
    read = [(item[: item.index(": ") + 2], item[item.index(": ") + 2 :].replace(" ", "")) for item in found.items]
    assert read == expected


def test_upstream_counts_a_lone_mark_as_a_word_and_all_roles_of_a_sentence_as_one_item() -> None:
    """2.3: its code splits restored text on spaces, and items at `) (`, which roles do not have."""
    texts = (["he said no"], ["He said , no ."], ["He said, no ."])
    assert restoration_counts(*texts, upstream=True)[1].tolist() == [1]
    assert restoration_counts(*texts)[1].tolist() == [0]
    gold, written = "said (ARG0: She, ARG1: it), left (ARG0: he)", "said (ARG0: She, ARG1: it), left (ARG0: she)"
    assert item_counts("srl", [gold], [written], upstream=True)[0].tolist() == [[0, 1, 1]]
    assert item_counts("srl", [gold], [gold.upper()], upstream=True)[0].tolist() == [[1, 1, 1]]
    assert item_counts("srl", [gold], [written])[0].tolist() == [[2, 3, 3]]


def test_what_is_malformed_is_counted_and_scored() -> None:
    cases = {
        ("ner", "(a: PER) (b"): (["a: per", "b"], 2),
        ("ner", "Faker"): (["faker"], 2),
        ("ner", ""): ([], 1),
        ("ner", "()"): ([], 0),
        ("ner", "O"): ([], 0),
        ("openie", "(a; b; c) (d; e)"): (["a; b; c", "d; e"], 1),
        ("openie", "(a; b; c; d)"): (["a; b; c; d"], 0),
        ("relations", "(a, b, c) (d e)"): (["a, b, c", "d e"], 1),
        ("multitask", "(a: PER) (a; b; c) (d)"): (["a: per", "a; b; c", "d"], 1),
        ("srl", "ran (ARG0: he, ARG9x: y), sat"): (["ran; arg0: he, arg9x: y", "sat"], 2),
        ("srl", "ran (ARG0: he, ARGM-LOC: at"): (["ran; arg0: he", "ran; argm-loc: at"], 1),
        ("srl", "ran (he), sat ()"): (["ran; he"], 1),
        ("srl", "said (ARG0: )"): (["said; arg0: "], 1),
        ("srl", ""): ([], 1),
    }
    for (task, text), wanted in cases.items():
        assert tuple(items(task, text)) == wanted, (task, text)  # type: ignore[arg-type]


@given(st.lists(st.tuples(word, word, word), max_size=5), st.randoms())
def test_targets_are_read_back_and_order_does_not_count(triples: list[tuple[str, str, str]], random) -> None:
    columns = {name: [triple[place] for triple in triples] for place, name in enumerate(TRIPLES)}
    row = {"text": " ".join(map(" ".join, triples)), **columns}
    text = target("openie", row)
    found = items("openie", text)
    assert found.malformed == 0 and sorted(found.items) == sorted("; ".join(triple).lower() for triple in triples)
    parts = text.removeprefix("(").removesuffix(")").split(") (")
    random.shuffle(parts)
    swapped = "(" + ") (".join(parts) + ")" if triples else text
    counts, _ = item_counts("openie", [text], [swapped])
    assert counts.tolist() == [[len(triples)] * 3]


@given(st.lists(st.tuples(word, st.sampled_from(["O", "B-PER", "I-PER", "B-ORG"])), min_size=1, max_size=8))
def test_entities_and_tags_are_read_back(tagged: list[tuple[str, str]]) -> None:
    row = {"tokens": [token for token, _ in tagged], "tags": [tag for _, tag in tagged]}
    found = items("ner", target("ner", row))
    assert found.malformed == 0 and len(found.items) == len(formats.entities(row["tags"]))
    assert formats.tags_of(target("pos", row)) == row["tags"]


@given(st.lists(st.lists(word, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=5))
def test_boundaries_are_read_back(sentences: list[str]) -> None:
    text = target("sbd", {"sentences": sentences})
    said, places = words_and_boundaries(text)
    assert " ".join(said) == source("sbd", {"sentences": sentences}) and len(places) == len(sentences) - 1
    (counts,), (changed,) = boundary_counts([text], [text])
    assert counts.tolist() == [len(places)] * 3 and not changed


def test_parentheses_inside_an_item_do_not_split_it() -> None:
    row = {"text": "x", "heads": ["a ) ( b"], "predicates": ["( c"], "tails": ["d )"]}
    assert items("openie", target("openie", row)) == (["a )( b; ( c; d )"], 0)


@given(any_text, any_text)
def test_anything_written_has_scores(gold: str, written: str) -> None:
    for task in formats.ITEM_TASKS:
        item_counts(task, [gold], [written])  # type: ignore[arg-type]
    tags, _ = tag_counts([gold], [written])
    ends, _ = boundary_counts([gold], [written])
    restored, _ = restoration_counts([strip(gold)], [written], [gold])
    for counts in (tags, ends, restored):
        assert (counts[:, 0] <= counts[:, 1:].min(1)).all()
        assert ((scores(counts) >= 0) & (scores(counts) <= 100)).all()


def test_long_and_odd_texts_take_linear_time() -> None:
    began = time.process_time()
    for piece in ("a ", ") (", "' ", "a (", "), ", ", ARG0: ", BOUNDARY, '"', "a; "):
        text = piece * 6000
        for task in formats.ITEM_TASKS:
            item_counts(task, [text], [text[::-1]])  # type: ignore[arg-type]
        tag_counts([text], [text])
        boundary_counts([text], [text])
        label_set_counts([text], [text])
        restoration_counts([strip(text)], [text], [text])
    assert time.process_time() - began < 8


def test_no_examples_and_sums() -> None:
    none, _ = item_counts("ner", [], [])
    assert none.shape == (0, 3) and scores(none.sum(0)).tolist() == [0, 0, 0]
    assert scores(np.array([[1, 2, 4], [0, 0, 0]])).round(1).tolist() == [[50, 25, 33.3], [0, 0, 0]]
    assert scorers.COUNTS == ("correct", "attempted", "gold")


def test_a_token_that_the_text_has_otherwise_has_no_width():
    assert formats._places(["a", "can", "not", "``", "b"], "a cannot b") == [0, 2, 5, 8, 9]
