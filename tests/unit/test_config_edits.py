"""`set=`: values are what YAML says they are, whatever characters they hold."""

import json

from hypothesis import given
from hypothesis import strategies as st
from reprlab.settings.overrides import parse_edits, typed_edits


@given(st.text(alphabet="ab{}[]()'\",;:=$`#\\ é|", max_size=20))
def test_a_quoted_value_is_what_yaml_says_it_is(value):
    double, single = json.dumps(value, ensure_ascii=False), "'" + value.replace("'", "''") + "'"
    assert parse_edits(f"a.b={double}; c=1") == {"a": {"b": value}, "c": 1}
    assert parse_edits(f"a.b={single},c=[{double}, {single}]") == {"a": {"b": value}, "c": [value, value]}


def test_a_quote_within_a_word_opens_nothing():
    assert parse_edits("a=it's {text}, b=2") == {"a": "it's {text}", "b": 2}


def test_edits_are_taken_as_they_were_typed():
    assert typed_edits(["scale=nano", 'set=a.b="x: {text}, y"']) == 'a.b="x: {text}, y"'
    assert typed_edits(["scale=nano"]) is None
