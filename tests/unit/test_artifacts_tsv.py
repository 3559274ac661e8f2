"""TSV files: any text comes back, one row is one line, nothing in a cell is a formula to a spreadsheet."""

import csv
import math

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reprlab.artifacts.tables import read_tsv, write_tsv
from reprlab.artifacts.tsv import escape, read_lines, unescape, write_lines, write_rows
from reprlab.runtime.errors import ReprlabError

# fmt: off
HARD = [
    "a\rb", "bad\rgood", "\r\n", "\t", "\\t", "\\", '"', '"=1+1"', "'", "''=x", "'-3", "NA", "None", "nan", "null", "",
    "=HYPERLINK(0)", "+1+1", "-x", "@SUM(A1)", "＝1", "-3", "+4.5", "-1e-5", "-", "=", "\x0b\x85\u2028", "\x00",
]
# fmt: on
TEXT = st.one_of(
    st.sampled_from(HARD),
    st.text(alphabet=st.sampled_from("\t\r\n\\\"'=+-@0 atnrud\x00"), max_size=8),
    st.text(max_size=12),
)
ROWS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6)


@given(ROWS)
def test_any_text_comes_back(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("tsv")
    frame = pandas.DataFrame(rows, columns=["a", "=b\t'"], dtype=object)
    write_tsv(folder / "frame.tsv", frame)
    write_rows(folder / "rows.tsv", frame.to_dict("records"))
    write_lines(folder / "lines.tsv", [list(frame), *map(list, rows)])
    expected = [list(frame), *map(list, rows)]
    for name in ("frame", "rows", "lines"):
        path = folder / f"{name}.tsv"
        found = read_tsv(path, text=True)
        assert [list(found), *found.to_numpy().tolist()] == expected
        assert read_lines(path) == expected
        assert path.read_bytes() == (folder / "frame.tsv").read_bytes()


@given(ROWS)
def test_a_row_is_a_line_and_no_cell_is_a_formula(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    write_tsv(path, pandas.DataFrame(rows, columns=["a", "b"], dtype=object))
    content = path.read_bytes()
    assert b"\r" not in content and b"\0" not in content
    lines = content.decode("utf-8").split("\n")
    assert len(lines) == len(rows) + 2
    # What a spreadsheet sees: the cells after CSV's quoting is undone.
    for cell in (cell for line in csv.reader(lines[1:-1], delimiter="\t") for cell in line):
        if cell[:1] in tuple("=+-@＝＋－＠") and len(cell) > 1:
            float(cell)


@pytest.mark.parametrize("text", HARD)
def test_words_that_mean_missing_elsewhere_are_words(tmp_path, text):
    """Read by types, as the tables are: a text among texts stays what it is; only the empty one is missing."""
    write_tsv(tmp_path / "a.tsv", pandas.DataFrame({"text": ["a word", text], "number": [1, -3]}))
    found = read_tsv(tmp_path / "a.tsv")
    assert found["text"].fillna("").tolist() == ["a word", text]
    assert found["number"].tolist() == [1, -3]


def test_numbers_stay_numbers(tmp_path):
    frame = pandas.DataFrame({"x": [-3, 4], "y": [-0.1, math.nan], "z": [-math.inf, 1e-300]})
    write_tsv(tmp_path / "a.tsv", frame)
    assert (tmp_path / "a.tsv").read_text() == "x\ty\tz\n-3\t-0.1\t-inf\n4\t\t1e-300\n"
    pandas.testing.assert_frame_equal(read_tsv(tmp_path / "a.tsv"), frame)


@pytest.mark.parametrize(
    ("text", "cell"), [("=A1", "'=A1"), ("-3%", "'-3%"), ("a\\b\r", "a\\\\b\\r"), ("'tis", "'tis")]
)
def test_the_form_is_as_documented(text, cell):
    assert escape(text) == cell and unescape(cell) == text


def test_a_row_that_lost_a_cell_is_named(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tb\n1\t2\n3\n")
    with pytest.raises(ReprlabError, match=r"a\.tsv: row 3 has another number of cells"):
        read_lines(tmp_path / "a.tsv")
