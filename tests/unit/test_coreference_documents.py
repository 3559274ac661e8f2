"""Documents with chains: CoNLL-2012 in its true format, segments, windows, silver chains, and the rule beside them."""

from pathlib import Path

import numpy as np
import pytest
from coreference_samples import CONLL, bert_tokenizer, litbank, text, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reprlab.coreference.documents import read_documents, write_documents
from reprlab.coreference.model import document_tensors
from reprlab.coreference.names import linked_by_rule, name_runs, words_of
from reprlab.coreference.rows import chain_row
from reprlab.coreference.segments import segment_text
from reprlab.coreference.settings import SegmentSettings
from reprlab.data.readers import conll_coreference, silver_chains
from reprlab.runtime.errors import ReprlabError

OPTIONS = conll_coreference.Settings(files={"*": None})


def chains(row: dict) -> list[list[str]]:
    """Words of each mention, by chain."""
    found: dict[int, list[str]] = {}
    for start, end, chain in zip(row["mention_starts"], row["mention_ends"], row["chains"], strict=True):
        found.setdefault(chain, []).append(" ".join(row["tokens"][start : end + 1]))
    return list(found.values())


def test_conll_2012(tmp_path: Path) -> None:
    first, second = conll_coreference.documents(write(tmp_path, "x.v4_gold_conll", CONLL), OPTIONS)
    assert (first["id"], second["id"]) == ("bc/cctv/00/cctv_0000_0", "bc/cctv/00/cctv_0000_1")
    assert first["group"] == second["group"] == "bc/cctv/00/cctv_0000"
    assert first["tokens"] == ["Anna", "'s", "brother", "slept", ".", "He", "told", "her", "."]
    assert first["sentence_starts"] == [0, 5]
    assert first["speakers"] == ["Speaker#1"] * 5 + ["Speaker#2"] * 4
    # Chains 0 and 5 share the mention `her`, so they are one.
    assert chains(first) == [["Anna 's", "her"], ["Anna 's brother", "He"]]
    assert chains(second) == [["Paris"]]


def test_litbank(tmp_path: Path) -> None:
    (row,) = conll_coreference.documents(write(tmp_path, "a.conll", litbank()), OPTIONS)
    assert chains(row) == [["Emma"], ["the house", "It"]] and row["speakers"] == ["_"] * 7


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("(0|(3", "(0|3(", "does not begin or end a mention"),
        ("         0)", "        -", "a mention of chain 0 does not end"),
        ("      (3)", "       9)", "a mention of chain 9 ends that did not begin"),
        ("Speaker#1   (PERSON*   *   (ARG0*   (0|(3", "", "has 9 columns, expected 12"),
        ("#end document\n", "", "has no '#end document'"),
    ],
)
def test_a_broken_line_is_named(old: str, new: str, said: str, tmp_path: Path) -> None:
    content = CONLL[: CONLL.index("#begin", 5)].replace(old, new, 1)
    with pytest.raises(ReprlabError, match=said):
        list(conll_coreference.documents(write(tmp_path, "x", content), OPTIONS))


def test_a_mention_outside_the_text_is_refused() -> None:
    with pytest.raises(ReprlabError, match="outside"):
        chain_row("a", "a", [["one"]], ["-"], [[(0, 1)]], "x")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return bert_tokenizer(tmp_path_factory.mktemp("tokenizer"))


SENTENCE = st.lists(st.sampled_from(["the", "good", "film", "zebra", "42", "\u200b"]), min_size=1, max_size=7)
WORDS = st.lists(SENTENCE, min_size=1, max_size=6)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORDS, st.data())
def test_segments_hold_the_text_and_its_mentions(tokenizer, sentences: list, data) -> None:
    """Each word once and in order, no segment too long, and each mention's sub-tokens are those of its words."""
    count = sum(map(len, sentences))
    spans = data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, 2)), max_size=5))
    mentions = list({(first, min(first + width, count - 1)) for first, width in spans})
    one = text("|".join(" ".join(sentence) for sentence in sentences), [mentions] if mentions else [])
    one = type(one)(one.key, one.split, sentences, ["-"] * count, one.clusters)
    length = 16
    found = segment_text(one, tokenizer, SegmentSettings(segment_length=length, singletons=True))
    special = {tokenizer.cls_token, tokenizer.sep_token}
    assert all(segment[0] in special and segment[-1] in special for segment in found.segments)
    assert all(2 < len(segment) <= length for segment in found.segments)
    flat = [piece for segment in found.segments for piece in segment]
    inside = np.array([piece not in special for piece in flat])
    expected = [tokenizer.tokenize(word) or [tokenizer.unk_token] for word in one.words]
    assert [piece for piece in flat if piece not in special] == [piece for pieces in expected for piece in pieces]
    assert found.word[inside].tolist() == [number for number, pieces in enumerate(expected) for _ in pieces]
    numbers = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
    assert found.sentence[inside].tolist() == numbers[found.word[inside]].tolist()
    assert (np.diff(found.sentence) >= 0).all() and len(found) == len(flat) == len(found.speakers)
    got = [(found.word[first], found.word[last]) for cluster in found.clusters for first, last in cluster]
    assert sorted(got) == sorted(mentions)


def test_segments_end_at_sentences_and_specials_belong_to_the_next_one(tokenizer) -> None:
    one = text("the good film|the bad film|was good", [[(0, 2), (3, 5)], [(7, 7)]])
    pieces = [len(tokenizer.tokenize(word)) for word in one.words]
    room = sum(pieces[:6])
    found = segment_text(one, tokenizer, SegmentSettings(segment_length=room + 2))
    assert [len(segment) for segment in found.segments] == [room + 2, sum(pieces[6:]) + 2]
    assert found.sentence[room + 1] == found.sentence[room + 2] == 2 and found.sentence[-1] == 3
    assert found.word[room + 1] == found.word[room + 2] == 5
    # A chain of one mention is left out, as in OntoNotes.
    assert [len(cluster) for cluster in found.clusters] == [2]
    assert found.segment.tolist() == [0] * (room + 2) + [1] * (sum(pieces[6:]) + 2)
    assert found.speaker_ids().tolist()[0] == 1 and set(found.speaker_ids()[1 : room + 1]) == {2}


def test_a_word_that_spells_a_special_token_is_text(tokenizer) -> None:
    found = segment_text(text("the [SEP] film|was [CLS] [PAD] good", []), tokenizer, SegmentSettings(segment_length=40))
    (segment,) = found.segments
    assert not {"[SEP]", "[CLS]", "[PAD]"} & set(segment[1:-1])
    assert (segment[0], segment[-1]) == ("[CLS]", "[SEP]")


def test_a_sentence_that_is_too_long_is_cut_between_words(tokenizer) -> None:
    one = text(" ".join(["good", "film"] * 10), [])
    found = segment_text(one, tokenizer, SegmentSettings(segment_length=9))
    assert len(found.segments) > 1
    with pytest.raises(ReprlabError, match="raise segment_length"):
        segment_text(text("x" * 40, []), tokenizer, SegmentSettings(segment_length=8))


def test_documents_are_read_as_they_were_written(tokenizer, tmp_path: Path) -> None:
    one = segment_text(text("the good film|was bad", [[(0, 2), (4, 4)]]), tokenizer, SegmentSettings(segment_length=12))
    path = tmp_path / "train.jsonlines"
    write_documents(path, [one])
    (again,) = read_documents(path)
    assert (again.key, again.segments, again.speakers, again.clusters) == (
        one.key, one.segments, one.speakers, one.clusters,
    )  # fmt: skip
    np.testing.assert_array_equal(again.sentence, one.sentence)
    np.testing.assert_array_equal(again.word, one.word)
    with pytest.raises(ReprlabError, match="line 2: not a segmented document"):
        read_documents(write(tmp_path, "broken", path.read_text() + "{}\n"))


def test_a_window_keeps_the_mentions_that_reach_into_it(tokenizer) -> None:
    """Trap 3: mentions are kept by where they stand, whatever the number of segments of the window."""
    sentences = ["the good film"] * 30
    one = text("|".join(sentences), [[(3 * number, 3 * number + 2) for number in range(30)]])
    found = segment_text(one, tokenizer, SegmentSettings(segment_length=16))
    assert len(found.segments) == 8
    batch, part = document_tensors(found, [], first=2, segments=4)
    bounds = np.cumsum([0, *map(len, found.segments)])
    assert (part.start, part.stop) == (bounds[2], bounds[6])
    spans, _ = found.mentions()
    inside = (spans[:, 0] >= part.start) & (spans[:, 1] < part.stop)
    np.testing.assert_array_equal(batch["mentions"].numpy(), spans[inside] - part.start)
    assert len(batch["mentions"]) >= 4 and len(batch["sentence"]) == part.stop - part.start
    with pytest.raises(ReprlabError, match="genre 'nw'"):
        document_tensors(found, ["bc"])


NAMES = frozenset({"Emma", "Knightley", "Harriet"})


def test_names_take_their_title_along() -> None:
    words = words_of("Mr. Knightley saw Emma's friend, Miss Harriet Smith.")
    assert words == ["Mr.", "Knightley", "saw", "Emma", "'s", "friend", ",", "Miss", "Harriet", "Smith", "."]
    assert name_runs(words, NAMES.__contains__) == [(0, 1), (3, 3), (7, 8)]
    assert name_runs(["Mr.", "and", "Mrs.", "Elton"], {"Elton"}.__contains__) == [(2, 3)]
    assert name_runs(["Sir", "."], NAMES.__contains__) == []


def silver(sentences: list[str], share: float) -> tuple[str, list[list[str]]]:
    genders = {"Emma": "female", "Harriet": "female", "Mr. Knightley": "male"}
    written, found = silver_chains._with_pronouns(
        [words_of(sentence) for sentence in sentences], NAMES, genders, share, np.random.default_rng(0)
    )
    words = [word for sentence in written for word in sentence]
    return " ".join(words), [[" ".join(words[a : b + 1]) for a, b in chain] for chain in found]


def test_silver_pronouns_stand_for_names_without_a_rival() -> None:
    said, found = silver(["Emma slept.", "Emma woke for Emma's sake, and spoke of Emma."], 1.0)
    assert said == "Emma slept . She woke for her sake , and spoke of her ."
    assert found == [["Emma", "She", "her", "her"]]
    said, found = silver(["Emma saw Harriet.", "Emma left.", "Mr. Knightley saw Mr. Knightley."], 1.0)
    assert said == "Emma saw Harriet . Emma left . Mr. Knightley saw he ."
    assert found == [["Emma", "Emma"], ["Mr. Knightley", "he"]]
    said, found = silver(["Emma slept.", "Emma woke."], 0.0)
    assert (said, found) == ("Emma slept . Emma woke .", [["Emma", "Emma"]])


def test_the_rule_links_names_and_pronouns() -> None:
    one = text("Then Emma saw Mr. Knightley .|He said : I saw Emma .|She left him", [])
    names = linked_by_rule(one, pronouns=False)
    assert names == [[(1, 1), (11, 11)]]
    found = linked_by_rule(one, pronouns=True)
    assert found == [[(1, 1), (11, 11), (13, 13)], [(3, 4), (6, 6), (15, 15)]]


@pytest.mark.parametrize(
    ("begin", "name"),
    [
        ("#begin document (d); part 000", "d_0"), ("#begin document (d); part 012", "d_12"),
        ("#begin document (d);", "d_0"), ("#begin document (d)", "d_0"), ("#begin document d", "d_0"),
        ("#begin document  d; part 3", "d_3"), ("#begin document (a (b) c); part 1", "a (b) c_1"),
    ],
)  # fmt: skip
def test_a_document_begins_with_any_name_and_with_or_without_a_part(begin: str, name: str, tmp_path: Path) -> None:
    rows = litbank("x").split("\n")
    (row,) = conll_coreference.documents(write(tmp_path, "a.conll", "\n".join([begin, *rows[1:]])), OPTIONS)
    assert (row["id"], row["group"]) == (name, name.rpartition("_")[0]) and len(row["chains"]) == 3


def test_a_document_that_does_not_end_is_not_dropped(tmp_path: Path) -> None:
    both = litbank("a").replace("#end document\n", "") + litbank("b")
    with pytest.raises(ReprlabError, match=r"line \d+ begins a document, and a_0 has no '#end document'"):
        list(conll_coreference.documents(write(tmp_path, "x", both), OPTIONS))


def test_a_tab_at_the_end_of_a_line_hides_no_chain(tmp_path: Path) -> None:
    plain = list(conll_coreference.documents(write(tmp_path, "a", litbank()), OPTIONS))
    for changed in (
        "\n".join(f"{line}\t" if "\t" in line else line for line in litbank().split("\n")),
        litbank().replace("(0)\n", "(0)\t\t\n").replace("(1\n", "(1 \n"),
    ):
        assert list(conll_coreference.documents(write(tmp_path, "a", changed), OPTIONS)) == plain
    # Predicates' columns end in something else: an empty column of chains is one.
    tabs = "\n".join("\t".join(line.split()) if line.startswith("bc") else line for line in CONLL.split("\n"))
    lines = [line.rpartition("\t")[0] + "\t" if line.startswith("bc") else line for line in tabs.split("\n")]
    assert not any(
        row["chains"] for row in conll_coreference.documents(write(tmp_path, "b", "\n".join(lines)), OPTIONS)
    )


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\u2003"])
def test_a_blank_inside_a_word_moves_no_column(blank: str, tmp_path: Path) -> None:
    content = CONLL.replace("   brother   ", f"   bro{blank}ther   ", 1)
    assert content != CONLL
    (first, _), (plain, _) = (
        list(conll_coreference.documents(write(tmp_path, "a", one), OPTIONS)) for one in (content, CONLL)
    )
    assert first["tokens"][2] == f"bro{blank}ther" and first["chains"] == plain["chains"]
    assert first["speakers"] == plain["speakers"]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c"])
def test_a_name_with_a_line_separator_stays_in_its_line(separator: str, tokenizer, tmp_path: Path) -> None:
    from dataclasses import replace

    document = segment_text(text("Anna slept .", []), tokenizer, SegmentSettings(segment_length=32))
    named = replace(document, key=f"a{separator}b")
    write_documents(tmp_path / "d.jsonl", [named])
    assert [one.key for one in read_documents(tmp_path / "d.jsonl")] == [named.key]
