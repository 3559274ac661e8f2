"""What models write around an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reprlab.inference.written_forms import bare, best_by_text, without_fence


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("```json\n[1]\n```", "[1]"),
        ("```\n[1]\n```\n", "[1]"),
        ("Here it is:\n\n```json\n[1]\n```\nMore?", "[1]"),
        ("~~~~text\na\n\nb\n~~~~", "a\n\nb"),
        ("````\n```\na\n```\n````", "```\na\n```"),
        ("  [1] ", "[1]"),
        ("no ``` fence", "no ``` fence"),
        ("```json\n[1]", "```json\n[1]"),
        ("```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"),
        ("a ```\nb\n``` c", "a ```\nb\n``` c"),
        ("", ""),
    ],
)
def test_a_fence_around_an_answer(text, content):
    assert without_fence(text) == content


@pytest.mark.parametrize(
    "text",
    ["Yes", " Yes.", "**Yes**", "**Yes**.", "**Yes.**", '"Yes"', "'Yes.'", "`Yes`", "*Yes*!", "```\nYes\n```", "“Yes”"],
)
def test_marks_around_a_short_answer(text):
    assert bare(text) == "Yes"


@pytest.mark.parametrize("text", ['"a" or "b"', "*a* and *b*", "a*b", "don't", "Static/Dynamic", "**", '"'])
def test_marks_inside_of_an_answer_stay(text):
    assert bare(text) == text


@given(st.text(alphabet="a`*_\"'. \n~", max_size=30))
def test_what_is_bare_stays_so(text):
    assert bare(bare(text)) == bare(text) and without_fence(text).strip() == without_fence(text)


@given(st.lists(st.tuples(st.sampled_from(["7", " 7", "7\n", "8", " 8"]), st.floats(-9, 0)), min_size=1))
def test_of_tokens_with_one_text_the_higher_score_counts(scores):
    found = best_by_text(dict(scores))
    assert all(found[token.strip()] >= value for token, value in dict(scores).items())
    assert set(found.values()) <= set(dict(scores).values())
