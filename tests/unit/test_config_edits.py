"""`set=`: values are what YAML says they are, whatever characters they hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.overrides import parse_edits, typed_settings


@given(st.text(alphabet="ab{}[]()'\",;:=$`#\\ é|", max_size=20))
def test_a_quoted_value_is_what_yaml_says_it_is(value):
    double, single = json.dumps(value, ensure_ascii=False), "'" + value.replace("'", "''") + "'"
    assert parse_edits(f"a.b={double}; c=1") == {"a": {"b": value}, "c": 1}
    assert parse_edits(f"a.b={single},c=[{double}, {single}]") == {"a": {"b": value}, "c": [value, value]}


def test_a_quote_within_a_word_opens_nothing():
    assert parse_edits("a=it's {text}, b=2") == {"a": "it's {text}", "b": 2}


def test_edits_are_taken_as_they_were_typed():
    assert typed_settings(["scale=nano", 'set=a.b="x: {text}, y"']) == {"scale": "nano", "set": 'a.b="x: {text}, y"'}


def test_typed_settings_are_values_of_yaml_and_are_merged():
    assert typed_settings(["seed=010", "run='010'", "build=[depth]", "x=", "y=no", "z=3e-4"]) == {
        "seed": 10, "run": "010", "build": ["depth"], "x": None, "y": "no", "z": 3e-4,
    }  # fmt: skip
    assert typed_settings(["runtime={device: cpu}", "runtime={save_every: 5}", "seed=1", "seed=2"]) == {
        "runtime": {"device": "cpu", "save_every": 5},
        "seed": 2,
    }
    with pytest.raises(ReprlabError, match=r"--config build, line \d: not valid YAML"):
        typed_settings(["build=[depth"])
