"""What was found in a module is kept by its content, and a damaged file holds nothing."""

import json

import pytest
from reprlab.runtime.files import atomic_file, write_text
from reprlab.runtime.kept_digests import KeptDigests


@pytest.fixture
def looked(tmp_path):
    """A function that looks a file up in a new process's view, and the names of those that had to be looked into."""
    found = []

    def look(name, content, version=b"1"):
        kept = KeptDigests(tmp_path / "below" / "kept.json", version)
        result = kept.of(name, content, lambda: found.append(name) or ([f"{name}.import"], content.decode()))
        kept.save()
        return result

    return look, found, tmp_path / "below" / "kept.json"


def test_a_content_is_looked_into_once(looked):
    look, found, _ = looked
    assert look("a", b"1") == look("a", b"1") == (["a.import"], "1")
    assert found == ["a"]


def test_another_content_name_or_version_is_looked_into(looked):
    look, found, _ = looked
    look("a", b"1")
    assert look("a", b"2") == (["a.import"], "2")
    look("b", b"1")
    look("a", b"1", version=b"2")
    assert found == ["a", "a", "b", "a"]


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xfe", b"x\n{}"])
def test_a_damaged_file_holds_nothing(looked, damage):
    look, found, path = looked
    look("a", b"1")
    path.write_bytes(damage)
    assert look("a", b"1") == (["a.import"], "1")
    assert found == ["a", "a"]


def test_a_digest_that_was_changed_is_not_believed(looked):
    look, found, path = looked
    look("a", b"1")
    path.write_text(path.read_text().replace('"1"', '"2"'))
    assert look("a", b"1") == (["a.import"], "1")
    assert found == ["a", "a"]


def test_a_folder_that_cannot_be_written_is_left(looked):
    look, found, path = looked
    path.parent.write_text("a file")
    assert look("a", b"1") == (["a.import"], "1")
    assert found == ["a"] and path.parent.read_text() == "a file"


def test_old_contents_are_forgotten(looked, monkeypatch):
    monkeypatch.setattr("reprlab.runtime.kept_digests._MOST", 2)
    look, _, path = looked
    for content in (b"1", b"2", b"3"):
        look("a", content)
    assert len(json.loads(path.read_text().partition("\n")[2])) == 1


def test_a_process_that_writes_at_the_same_moment_stops_nothing(looked, monkeypatch):
    look, found, path = looked

    def meanwhile(target, text):
        with atomic_file(target) as ours:
            ours.write_text(text, encoding="utf-8")
            write_text(target, "theirs")  # takes our unfinished file for one that a killed process left

    monkeypatch.setattr("reprlab.runtime.kept_digests.write_text", meanwhile)
    assert look("a", b"1") == (["a.import"], "1")
    assert path.read_text(encoding="utf-8") == "theirs" and found == ["a"]
