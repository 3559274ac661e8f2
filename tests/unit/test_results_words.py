"""Words of a paper beside its printed tables, and the records that they belong to."""

import pytest
from reprlab.results import words
from reprlab.results.table_forms import Listing
from reprlab.runtime.errors import ReprlabError

RESULTS = """
factors:
  model: {about: the model}
  tuned: {about: whether it was tuned, values: [yes, no]}
metrics:
  right: {about: share of right answers, unit: percent, better: higher}
tables:
  table1: Accuracy (Table 1).
figures: {}
"""
PRINTED = """
tables:
  table2: {keys: [model], values: [no], ours: quoted}
  table1: {keys: [model], values: ["1000", main]}
known:
  counts: {keys: [model], values: [count]}
"""
TABLES = {"table1": (Listing("model right=value"), {"metric": "right"})}


def beside(own, row, column):
    """What stands beside a printed cell."""
    raise AssertionError("nothing is compared here")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a paper, with both files."""
    monkeypatch.setattr(words, "_FOLDER", tmp_path)
    words.printed_of.cache_clear()
    path = tmp_path / "mine"
    path.mkdir()
    (path / "results.yaml").write_text(RESULTS)
    (path / "printed.yaml").write_text(PRINTED)
    yield path
    words.printed_of.cache_clear()


def made(**changed):
    """The records of the paper."""
    return words.results_of("mine", **{"tables": TABLES, "figures": {}, "ours": {"table1": beside}, **changed})


def test_records_get_their_words(folder):
    found = made(unjudged={"nano": "for tests"})
    assert found.factors["tuned"].values == ("yes", "no"), "words, no truth values"
    assert found.metrics["right"].unit == "percent" and found.unjudged == {"nano": "for tests"}
    assert found.captions(found.tables) == {"table1": "Accuracy (Table 1)."}
    assert found.table("table1").where == {"metric": "right"}
    assert list(found.printed) == ["table2", "table1"], "in the paper's order"
    assert found.printed["table2"].ours == "quoted" and found.printed["table1"].ours is beside
    assert list(words.printed_of("mine").declarations()) == ["table2", "table1", "counts"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tables": {}}, r"results\.yaml: tables: table1 has no record in results\.py"),
        ({"tables": TABLES | {"table3": TABLES["table1"]}}, r"tables: table3 has no words"),
        ({"figures": {"fig1": ("table1", beside)}}, r"figures: fig1 has no words"),
        ({"ours": {}}, r"printed\.yaml: tables: table1 has no record"),
        ({"ours": {"table1": beside, "counts": beside}}, r"printed\.yaml: tables: counts has no words"),
        ({"ours": {"table1": beside, "table2": beside}}, r"table2 has a record in results\.py, and the words 'quoted'"),
    ],
)
def test_a_record_without_words_is_refused_and_words_without_a_record(folder, changed, message):
    with pytest.raises(ReprlabError, match=message):
        made(**changed)


def test_a_damaged_file_is_named_with_the_place(folder):
    (folder / "results.yaml").write_text(RESULTS.replace("unit: percent", "unit: percents"))
    with pytest.raises(ReprlabError, match=r"mine/results\.yaml: metrics\.right\.unit: .*declare it"):
        made()
    (folder / "results.yaml").write_text(RESULTS.replace("right:", "accuracy:"))
    with pytest.raises(
        ReprlabError, match=r"metrics\.accuracy\.better is in metrics\.yaml|metrics\.accuracy\.unit is in"
    ):
        made()
    (folder / "printed.yaml").unlink()
    words.printed_of.cache_clear()
    with pytest.raises(ReprlabError, match=r"printed\.yaml: cannot be read"):
        words.printed_of("mine")
