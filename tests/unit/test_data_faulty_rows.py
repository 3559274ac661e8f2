"""A published set with a known flaw is read: its entry says how many of its rows are not examples."""

from pathlib import Path
from typing import Any

import pytest
from data_fixtures import task
from reader_cases import READER, Planted, as_json, parquet_bytes
from reprlab.data.examples import examples_of
from reprlab.data.sources import FaultyRows, Sources
from reprlab.registry.dataset_entries import Limits, TaskEntry
from reprlab.runtime.errors import ReprlabError

CHOICE = {"form": "choice", "question": "q", "choices": ["c"], "answer": "a",
          "files": [{"file": "main", "split": "train"}]}  # fmt: skip
PAIR = {"input": "T: Passage.\nClaim: it is", "target_scores": {"True": 1, "False": 0, "Neither": 0}}
TRIPLE = b'{"query": "a", "positive": "b", "negative": "c"}\n'
# Of each reader an entry, a good file, and the same with one row that is not an example.
FLAWED: dict[str, tuple[dict[str, Any], bytes, bytes]] = {
    "simcse_triples": (
        {"kind": "choice", "labels": [], "options": {"file": "main"}},
        b"sent0,sent1,hard_neg\na,b,c\nd,e,f\n", b"sent0,sent1,hard_neg\na,b,c\nx,,y\nd,e,f\n",
    ),
    "triple_lines": (
        {"kind": "choice", "labels": [], "options": {"file": "main"}},
        TRIPLE * 2, TRIPLE + b'{"query": "a", "positive": null, "negative": "c"}\n' + TRIPLE,
    ),
    "glue_hub": (
        {"kind": "single", "labels": ["n", "p"], "options": {
            "files": [{"file": "main", "split": "train"}], "texts": ["s"], "label_names": ["n", "p"]}},
        parquet_bytes({"s": ["a", "b"], "label": [0, 1], "idx": [0, 2]}),
        parquet_bytes({"s": ["a", "x", "b"], "label": [0, -1, 1], "idx": [0, 1, 2]}),
    ),
    "hub_columns": (
        {"kind": "choice", "labels": [], "options": CHOICE},
        parquet_bytes({"q": ["a"], "c": [["x", "y"]], "a": ["1"]}),
        parquet_bytes({"q": ["a", "b"], "c": [["x", "y"], ["z"]], "a": ["1", "7"]}),
    ),
    "mteb_lines": (
        {"kind": "single", "labels": ["x", "y"], "options": {
            "files": [{"file": "main", "split": "test"}], "texts": ["s"], "label": "l"}},
        b'{"s": ["a"], "l": ["x"]}\n', b'{"s": ["a"], "l": ["x"]}\n{"s": ["a", "b"], "l": ["x"]}\n',
    ),
    "rated_pairs": (
        {"kind": "similarity", "labels": [], "options": {"pairs": "main"}}, b"a\tb\t1\n", b"a\tb\t1\nc\td\tnone\n"
    ),
    "hutto_ratings": (
        {"labels": ["positive", "negative"], "options": {"member": "main"}},
        b"1_1\t2\tgood\n2_1\t-1\tbad\n", b"1_1\t2\tgood\n3_1\t99\todd\n2_1\t-1\tbad\n",
    ),
    "extraction_lines": (
        {"kind": "triples", "labels": [], "options": {"files": {"train": "main"}}},
        b"a b c\tb\ta\tc\n", b"a b c\tb\ta\tc\nd e\n",
    ),
    "vitaminc": (
        {"kind": "pair", "labels": ["entailment", "neutral", "contradiction"], "options": {"member": "main"}},
        as_json({"examples": [PAIR]}), as_json({"examples": [PAIR, {**PAIR, "target_scores": {"True": 0}}]}),
    ),
    # Of the rows themselves: a label outside the set.
    "column_tags": (
        {"kind": "tags", "labels": ["O", "B-X"], "options": {"tagged": {"train": ["main"]}, "column": 1, "columns": 2}},
        b"a O\nb B-X\n", b"a O\nb B-X\n\nc B-Y\nd O\n",
    ),
}  # fmt: skip


def entry_of(reader: str, **more: Any) -> TaskEntry:
    given, *_ = FLAWED[reader]
    return task(reader=reader, **{**READER, **given, **more})


def rows_of(entry: TaskEntry, folder: Path, content: bytes) -> list[dict[str, Any]]:
    (folder / "main").write_bytes(content)
    sources = Sources({"sample": Planted({"main": folder / "main"}, "main")})  # type: ignore[dict-item]
    return examples_of(entry, sources, Limits())


def texts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without what counts them."""
    return [{name: value for name, value in row.items() if name not in ("id", "group")} for row in rows]


@pytest.mark.parametrize("reader", FLAWED)
def test_a_known_flaw_is_left_out_and_an_unknown_one_is_told(reader: str, tmp_path: Path) -> None:
    _, good, flawed = FLAWED[reader]
    assert texts(rows_of(entry_of(reader, faulty_rows=1), tmp_path, flawed)) == texts(
        rows_of(entry_of(reader), tmp_path, good)
    )
    with pytest.raises(ReprlabError, match=r"if the published set is so, set faulty_rows in its entry \(0 now\)"):
        rows_of(entry_of(reader), tmp_path, flawed)


def test_one_more_than_the_entry_says_is_an_error() -> None:
    faulty = FaultyRows(2)
    faulty.leave_out("a")
    faulty.leave_out("b")
    with pytest.raises(ReprlabError, match=r"c; if the published set is so, set faulty_rows in its entry \(2 now\)"):
        faulty.leave_out("c")


def test_whoever_reads_the_table_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import logging

    with caplog.at_level(logging.INFO, logger="reprlab"):
        rows_of(entry_of("triple_lines", faulty_rows=1), tmp_path, FLAWED["triple_lines"][2])
    assert "1 faulty rows were left out" in caplog.text and "left out:" in caplog.text and "line 2" in caplog.text


def test_an_id_that_comes_twice_is_a_faulty_row(tmp_path: Path) -> None:
    content = b"1_1\t2\tgood\n1_1\t-1\tbad\n2_1\t1\tfine\n"
    about = {"reader": "hutto_ratings", "labels": ["positive", "negative"], "options": {"member": "main"},
             "splits": {"seed": 0, "train": 1.0, "validation": 0.0, "test": 0.0}}  # fmt: skip
    (tmp_path / "main").write_bytes(content)
    sources = Sources({"a": Planted({"main": tmp_path / "main"}, "main")})
    with pytest.raises(ReprlabError, match=r"the id '.*' is used twice; .*faulty_rows"):
        examples_of(task(**about), sources, Limits())
    rows = examples_of(task(**about, faulty_rows=1), sources, Limits())
    assert [row["text"] for row in rows] == ["good", "fine"]
