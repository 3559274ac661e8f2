"""Text files of others are decoded in one place: byte-order marks, carriage returns, and where a row ends."""

import ast
import csv
import gzip
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reader_cases import CASES
from reprlab.concepts.files import concept_lines, write_concepts
from reprlab.data.json_lines import json_lines
from reprlab.data.sources import json_items
from reprlab.data.text_files import (
    blank_cells,
    csv_rows,
    one_of,
    read_text,
    streamed_rows,
    tab_rows,
    tab_table,
    text_rows,
)
from reprlab.runtime.errors import ReprlabError

BOM = b"\xef\xbb\xbf"
DATA = Path(__file__).resolve().parents[2] / "workflow/reprlab/data"
# Readers of text, compressed or not; what the others read is Parquet, an R database or our own.
BINARY = {"r_data", "examples", "metadata", "completions", "token_counts", "rows", "tokens", "mapped_tokens", "batches"}
OWN = {"tsv", "json"}
TEXT = [name for name, case in CASES.items() if case.suffix != "parquet" and name not in BINARY | OWN]


def read(name: str, folder: Path, content: bytes) -> object:
    folder.mkdir()
    case = CASES[name]
    path = folder / f"input.{case.suffix}"
    path.write_bytes(case.wrap(content))
    # Where an object lies in memory is not what was read.
    return re.sub(r" at 0x[0-9a-f]+", "", str(case.read(path)))


@pytest.mark.parametrize("name", TEXT)
def test_a_file_that_windows_touched_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    """The first characters of a file are often what a row is known by: an id, a token, `#`, a header."""
    good = CASES[name].good
    plain = read(name, tmp_path / "plain", good)
    assert str(read(name, tmp_path / "mark", BOM + good)).replace("/mark/", "/plain/") == str(plain)
    returns = good.replace(b"\n", b"\r\n")
    assert str(read(name, tmp_path / "returns", returns)).replace("/returns/", "/plain/") == str(plain)
    assert str(read(name, tmp_path / "both", BOM + returns)).replace("/both/", "/plain/") == str(plain)


def test_data_is_read_as_text_in_one_module() -> None:
    """No reader decodes, cuts or translates line ends by itself; files of our own are ASCII, Python's or YAML's."""
    own = {"downloads.py", "archives.py", "text_files.py", "cache.py"}
    found = []
    for path in [*DATA.glob("*.py"), *DATA.glob("readers/*.py")]:
        if path.name in own:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = node.func.attr
                literals = [one.value for one in node.args if isinstance(one, ast.Constant)]
                text_mode = name == "open" and "rb" not in literals and "wb" not in literals
                of = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
                named = of in ("Archive", "archive", "opened", "member")
                if name in ("splitlines", "read_text", "decode", "reader") or (text_mode and not named):
                    found.append(f"{path.relative_to(DATA)}:{node.lineno} {name}")
    # A stream of the zip module, and names inside a package's header or an R string, which are bytes with a length.
    allowed = {"readers/r_austen.py", "members.py", "extraction.py"}
    assert [one for one in found if one.partition(":")[0] not in allowed] == []


def test_a_row_ends_at_a_line_feed_alone(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(BOM + "a\u2028b\x0bc\rd\x85e\r\n\xa0f\n".encode())
    assert read_text(path) == "a\u2028b\x0bc\rd\x85e\r\n\xa0f\n"
    assert list(text_rows(path)) == [(1, "a\u2028b\x0bc\rd\x85e"), (2, "\xa0f"), (3, "")]
    assert list(streamed_rows(path, zipped=False)) == list(text_rows(path))[:-1]
    (tmp_path / "y.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert list(streamed_rows(tmp_path / "y.gz", zipped=True)) == list(text_rows(path))[:-1]


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_character_is_where_it_was(text: str) -> None:
    with tempfile.NamedTemporaryFile() as file:
        path = Path(file.name)
        path.write_bytes(text.encode())
        assert read_text(path) == text.removeprefix("\ufeff")


def test_a_file_says_itself_that_it_is_utf_8(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(BOM + "é\t1\r\n".encode())
    assert list(tab_rows(tmp_path / "x", 2, "latin-1")) == [(1, ["é", "1"])]
    (tmp_path / "x").write_bytes("é\t1\r\n".encode("latin-1"))
    assert list(tab_rows(tmp_path / "x", 2, "latin-1")) == [(1, ["é", "1"])]
    with pytest.raises(ReprlabError, match="byte 0 is not utf-8"):
        read_text(tmp_path / "x")


def test_cells_between_blanks_keep_a_no_break_space() -> None:
    assert blank_cells(" 10\xa0km \tB-X ") == ["10\xa0km", "B-X"]
    assert blank_cells("a\u2003b\x0b c\rd") == ["a\u2003b\x0b", "c\rd"]
    assert blank_cells(" \t") == []


def test_a_csv_row_ends_neither_at_a_lone_return_nor_inside_quotes(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(BOM + b'sent0,"a, b"\r\none\rtwo,"three\nfour\r\nfive ""six"""\r\n')
    assert list(csv_rows(tmp_path / "x")) == [["sent0", "a, b"], ["one\rtwo", 'three\nfour\r\nfive "six"']]
    (tmp_path / "x").write_bytes(b'a,"b')
    with pytest.raises(csv.Error):
        list(csv_rows(tmp_path / "x"))


def test_json_with_a_byte_order_mark_is_json(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(BOM + b'{"examples": [1]}')
    assert json_items(tmp_path / "x.json") == [1]
    (tmp_path / "x.jsonl").write_bytes(BOM + b'{"a":\r1}\r\n\r\n{"a": "\xe2\x80\xa8"}\n')
    assert list(json_lines(tmp_path / "x.jsonl")) == [(1, {"a": 1}), (3, {"a": "\u2028"})]
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress((tmp_path / "x.jsonl").read_bytes()))
    assert list(json_lines(tmp_path / "x.jsonl.gz")) == list(json_lines(tmp_path / "x.jsonl"))


def test_concepts_of_others(tmp_path: Path) -> None:
    (tmp_path / "concepts").write_bytes(BOM + b"dog\r\nhot dog\r\n")
    assert concept_lines(tmp_path / "concepts") == ["dog", "hot dog"]
    write_concepts(tmp_path / "concepts", ["a\u2028b", "c"])
    assert concept_lines(tmp_path / "concepts") == ["a\u2028b", "c"]


def test_a_table_with_a_header_has_rows_of_its_columns_and_quotes_are_characters(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes(BOM + '\n"a"\tb\r\n"open\tx\r\n\nle\u2028ft"\t"y"\n'.encode())
    assert [row for _, row in tab_table(path, ["b"])] == [
        {'"a"': '"open', "b": "x"},
        {'"a"': 'le\u2028ft"', "b": '"y"'},
    ]
    for content, said in (
        ("a\n1\n", "has no column b of a, b; write them with tabs between"),
        ("a,b\n1,2\n", "has no column a of a, b; it looks like comma-separated text"),
        ('{"a": 1, "b": 2}\n', "has no column a of a, b; it looks like JSON"),
        ("a\tb\ta\n", "two columns 'a'"),
        ("a\tb\n1\n", "line 2 has 1 cell, expected 2: a, b"),
        ("a\tb\n1\t2\t\n", "line 2 has 3 cells"),
        ("", "has no column a"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ReprlabError, match=said):
            list(tab_table(path, ["a", "b"]))


def test_a_value_of_a_closed_set():
    assert one_of("test", ("train", "test"), "split") == "test"
    with pytest.raises(ReprlabError, match="line 3: the split 'Test' is none of 'train', 'test'"):
        one_of("Test", ("train", "test"), "line 3: the split")


def test_a_manifest_may_name_any_file(tmp_path: Path) -> None:
    from reprlab.registry.registry_file import _manifest

    (tmp_path / "m.tsv").write_text(f"a\u2028b\x85c\t{'0' * 64}\t7\n", encoding="utf-8")
    assert [one["bytes"] for one in _manifest(tmp_path / "m.tsv")] == [7]
