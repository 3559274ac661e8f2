"""Whatever the user writes gives a config or one line."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from reprlab.config.load import leaves, load_config
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.overrides import Layer, merge, normalise, parse_edits
from reprlab.settings.yaml_text import parse_scalar, parse_yaml

ROOT = Path(__file__).parents[2]
PATHS = sorted(
    [".".join(path) for path, _ in leaves(load_config(ROOT, {"scale": "paper"}).as_dict()) if path[0] == "papers"]
    + ["scale", "run", "seed", "build", "runtime.device", "numerics.dtype", "threads.default"]
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)
KEYS = st.sampled_from(["scale", "run", "seed", "build", "papers", "set", "depth", "threads", "runtime", "loss", "x"])
TREES = st.recursive(VALUES, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=6)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def loads_or_says_one_line(overrides) -> None:
    try:
        config = load_config(ROOT, overrides)
    except ReprlabError as error:
        assert str(error)
        assert "\n" not in str(error)
    else:
        assert load_config(ROOT, config.as_dict()) == config


@QUICK
@given(st.dictionaries(KEYS, TREES, max_size=3))
def test_any_mapping(overrides):
    loads_or_says_one_line(overrides)


@QUICK
@given(st.sampled_from(PATHS), VALUES)
def test_any_value_at_a_real_key(path, value):
    for key in reversed(path.split(".")):
        value = {key: value}
    loads_or_says_one_line(value)


@QUICK
@given(
    st.one_of(
        st.text(max_size=40), st.sampled_from(PATHS).flatmap(lambda p: st.text(max_size=12).map((p + "=").__add__))
    )
)
def test_any_edit(text):
    loads_or_says_one_line({"set": text})


YAML_PIECES = [
    "scale",
    ": ",
    "\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "!!int ",
    "'",
    '"',
    "1e-4",
    "|",
    "#",
    "?",
    "<<",
]


@example("0: !!int")
@example("0: !!float")
@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(YAML_PIECES), max_size=20).map("".join)))
def test_any_yaml_text(text):
    try:
        document = parse_yaml(text, name="file")
    except ReprlabError as error:
        assert str(error).startswith("file")
        assert "\n" not in str(error)
    else:
        assert isinstance(document.values, dict)


@pytest.mark.parametrize("value", ["!!int", "!!float", "!!bool", "!!bool maybe"])
def test_a_tag_of_a_number_on_what_is_none_is_text(value):
    text = value.partition(" ")[2]
    assert parse_yaml(f"a: {value}", name="file").values == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", 1e-4), ("3E5", 300_000), ("3.0e5", 3e5), ("1e400", float("inf")), (".5", 0.5),
        ("1_000", 1000), ("-7", -7), ("007", 7), ("null", None), ("", None),
        ("true", True), ("yes", "yes"), ("no", "no"), ("on", "on"), ("1e-4x", "1e-4x"), ("1.2.3", "1.2.3"),
        ("0x10", 16), ("010", 10), ("2026-11-21", "2026-11-21"), ("e5", "e5"), ("_1", "_1"), (".", "."),
    ],
)  # fmt: skip
def test_scalars(text, value):
    assert parse_scalar(text) == value
    assert type(parse_scalar(text)) is type(value)


def test_quoted_scalars_are_strings():
    assert parse_yaml("a: \"1e-4\"\nb: 'null'\nc: |\n  5\n", name="x").values == {"a": "1e-4", "b": "null", "c": "5\n"}


def test_deep_nesting_is_refused():
    deep: dict = {}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(ReprlabError, match="nested too deeply"):
        normalise(deep)
    with pytest.raises(ReprlabError, match="nested too deeply"):
        parse_yaml("{a: " * 60 + "1" + "}" * 60, name="x")


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("de"), st.integers())), max_size=4)
)
def test_merge_takes_the_last_layer_that_gives_a_leaf(layers):
    merged = merge(Layer(str(place), values) for place, values in enumerate(layers))
    for (outer, *inner), value in leaves(merged.values):
        if inner:
            holders = [place for place, layer in enumerate(layers) if inner[0] in layer.get(outer, {})]
            assert layers[holders[-1]][outer][inner[0]] == value
            first = holders[-1]
            while holders and layers[holders[-1]][outer][inner[0]] == value:
                first = holders.pop()
            assert merged.place((outer, *inner)) == str(first)


def test_merge_replaces_lists_and_groups_by_other_values():
    merged = merge([Layer("a", {"x": {"y": 1, "z": [1, 2]}}), Layer("b", {"x": {"z": [3]}}), Layer("c", {"w": 1})])
    assert merged.values == {"x": {"y": 1, "z": [3]}, "w": 1}
    assert merge([Layer("a", {"x": {"y": 1}}), Layer("b", {"x": None})]).values == {"x": None}
    assert merge([Layer("a", {"x": 1}), Layer("b", {"x": {"y": 2}})]).values == {"x": {"y": 2}}
    assert merge([Layer("a", {"x": {"y": 1}}), Layer("b", {"x": {}})]).values == {"x": {"y": 1}}
    assert merge([Layer("a", {"x": 1}), Layer("b", {"x": True})]).values["x"] is True


def test_edits_split_outside_brackets_and_quotes():
    assert parse_edits("a.b=[1,2],c={d: 1, e: 2};f='x,y'") == {"a": {"b": [1, 2]}, "c": {"d": 1, "e": 2}, "f": "x,y"}
    assert parse_edits(["a=1", "b.c=2,b.d=3"]) == {"a": 1, "b": {"c": 2, "d": 3}}
    with pytest.raises(ReprlabError, match="contradicts"):
        parse_edits("a=1,a.b=2")
