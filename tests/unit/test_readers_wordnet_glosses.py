"""Definitions of WordNet as triples and tasks, from a hand-made file of its format."""

import tracemalloc

import pytest
from reprlab.data.readers import wordnet_glosses
from reprlab.data.wordnet_glosses import TOPICS, read_synsets
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

HEAD = "  1 This software and database is being provided to you\n"


def line(name, words, gloss, above="", topic=5):
    pointer = f"001 @ {above} n 0000" if above else "000"
    listed = " ".join(f"{word} 0" for word in words)
    return f"{name:>08} {topic:02} n {len(words):02x} {listed} {pointer} | {gloss}  \n"


ROWS = [
    line("1", ["animal"], "a living thing that moves by itself; not a plant", topic=3),
    line("2", ["dog", "domestic_dog"], 'a tame animal that barks at night; "the dog barked"', "00000001"),
    line("3", ["cat"], 'a tame animal that catches small mice; "she fed the cat"; "two cats"', "00000001"),
    line("4", ["cow"], "a large animal that gives white milk", "00000001"),
    line("5", ["puppy"], 'a young dog that still plays; "a puppy slept"', "00000002"),
    line("6", ["hound"], "a dog that hunts by scent", "00000002"),
    line("7", ["it"], "too short here", "00000001"),
    line("8", ["thing"], "a creature that lies under it", "00000007"),
]
ALL = SplitSettings(seed=0, train=1.0, validation=0.0, test=0.0)


class Archive:
    def __init__(self, path):
        self.path = path

    def member(self, name):
        return self.path


class Source:
    def __init__(self, path):
        self.archive = Archive(path)


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "data.noun"
    path.write_text(HEAD + "".join(ROWS), encoding="latin-1")

    def read(form, **more):
        settings = wordnet_glosses.Settings(data="data.noun", form=form, **more)
        return list(wordnet_glosses.read(Source(path), settings, ALL))

    return read


def test_the_first_clause_is_the_definition(tmp_path):
    path = tmp_path / "data.noun"
    path.write_text(HEAD + "".join(ROWS), encoding="latin-1")
    found = {one.words[0]: one for one in read_synsets(path)}
    assert len(found) == 8
    assert found["dog"].words == ("dog", "domestic dog")
    assert found["dog"].definition == "a tame animal that barks at night"
    assert found["cat"].examples == ("she fed the cat", "two cats")
    assert found["cat"].above == "00000001" and found["animal"].above == ""
    assert (found["animal"].topic, found["cat"].topic) == ("Tops", "animal")
    assert len(TOPICS) == 45 and TOPICS[28] == "time" and TOPICS[43] == "weather"
    path.write_text("00000001 05 n zz broken\n", encoding="latin-1")
    with pytest.raises(ReprlabError, match="line 1"):
        list(read_synsets(path))


def test_a_wrong_number_of_pointers_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "data.noun"
    path.write_text(ROWS[1].replace(" 001 @ ", " 3000000 @ "), encoding="latin-1")
    tracemalloc.start()
    with pytest.raises(ReprlabError, match="line 1"):
        list(read_synsets(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_triples_have_a_negative_under_the_same_synset(rows):
    found = {row["question"]: row for row in rows("words_to_definition")}
    assert set(found) == {"dog, domestic dog", "cat", "cow", "puppy", "hound"}
    assert found["puppy"]["choices"] == ["a young dog that still plays", "a dog that hunts by scent"]
    assert found["puppy"]["answer"] == 0 and found["puppy"]["group"] == "00000002"
    examples = {row["question"]: row["choices"] for row in rows("definition_to_example")}
    assert examples["a tame animal that barks at night"] == ["the dog barked", "she fed the cat"]
    assert "a dog that hunts by scent" not in examples
    assert rows("words_to_definition") == rows("words_to_definition")


def test_the_tasks(rows):
    assert [row["label"] for row in rows("same") if row["text_a"] == "puppy"] == ["same", "other"]
    for row in rows("candidates"):
        assert len(row["choices"]) == 3 and len(set(row["choices"])) == 3
        assert row["question"].split(",")[0] in ("dog", "cat", "cow")
    assert {row["label"] for row in rows("topic")} == {"Tops", "animal"}
    assert {row["passage"] for row in rows("search")} >= {"a dog that hunts by scent"}


def test_likeness_is_wu_and_palmers(rows):
    marks = {
        "puppy": "young",
        "hound": "hunts",
        "dog": "barks",
        "cat": "mice",
        "cow": "milk",
        "animal": "moves",
        "thing": "lies",
    }
    depth = {"animal": 2, "dog": 3, "cat": 3, "cow": 3, "puppy": 4, "hound": 4, "thing": 4}
    under_dog = {"dog", "puppy", "hound"}

    def expected(one, other):
        common = 3 if {one, other} <= under_dog else 2
        return 2 * common / (depth[one] + depth[other])

    found = rows("likeness")
    assert len(found) >= 3
    for row in found:
        names = [next(name for name, mark in marks.items() if mark in row[side]) for side in ("text_a", "text_b")]
        assert names[0] != names[1]
        assert row["score"] == pytest.approx(expected(*names))
        assert row["split"] == "train"


def test_a_share_keeps_whole_groups(rows):
    kept = rows("topic", share=0.5)
    whole = {}
    for row in rows("topic"):
        whole.setdefault(row["group"], set()).add(row["id"])
    for row in kept:
        assert whole[row["group"]] <= {one["id"] for one in kept}
