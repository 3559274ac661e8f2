"""Pairs that people rated: one a line, or documents with a matrix, of which each pair is read once."""

import pytest
from data_fixtures import task
from pydantic import ValidationError
from reader_cases import READER, reads
from reprlab.data.readers.rated_pairs import Settings
from reprlab.runtime.errors import ReprlabError


def read(tmp_path, options, content, **beside):
    path = tmp_path / "given.txt"
    path.write_bytes(content)
    entry = task(reader="rated_pairs", kind="similarity", labels=[], options=options, **READER)
    return reads(entry, beside=beside)(path)


def test_a_pair_a_line(tmp_path):
    found = read(tmp_path, {"pairs": "main"}, b"# two\n# a\tb\tc\nold\tnew\t1.58\nna\xc3\xafve\tsmart\t9\r\n")
    assert [(row["text_a"], row["text_b"], row["score"]) for row in found] == [
        ("old", "new", 1.58), ("naïve", "smart", 9.0),
    ]  # fmt: skip


def test_what_stands_above_the_diagonal(tmp_path):
    options = {"documents": "texts", "matrix": "main"}
    matrix = b"1\t0.5\t0.25\n0\t1\t0.75\n0\t0\t1\n"
    found = read(tmp_path, options, matrix, texts=b"a  b\n\nc d\ne\xe9\n")
    assert [(row["text_a"], row["text_b"], row["score"]) for row in found] == [
        ("a b", "c d", 0.5), ("a b", "eé", 0.25), ("c d", "eé", 0.75),
    ]  # fmt: skip
    with pytest.raises(ReprlabError, match="not a matrix of 2 x 2"):
        read(tmp_path, options, matrix, texts=b"a\nb\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [(b"a\tb\tx\n", "line 1: the rating 'x'"), (b"a\tb\tnan\n", "is not a"), (b"a\t1\n", "2 cells")],
)
def test_what_is_no_rating_is_named(tmp_path, line, message):
    with pytest.raises(ReprlabError, match=message):
        read(tmp_path, {"pairs": "main"}, line)


@pytest.mark.parametrize("given", [{}, {"documents": "x"}, {"pairs": "x", "documents": "y", "matrix": "z"}])
def test_one_form_is_given(given):
    with pytest.raises(ValidationError, match="give pairs, or documents and matrix"):
        Settings.model_validate(given)
