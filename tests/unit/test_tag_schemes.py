"""Tags of every scheme mark the same chunks, and what is of none is refused where it is read."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reader_cases import Planted
from reprlab.data.readers import column_tags
from reprlab.data.sources import Sources
from reprlab.data.tag_schemes import as_iob2, iob2
from reprlab.evaluation.entities import entities
from reprlab.evaluation.metrics import score
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.structure.formats import target
from reprlab.training.finetuning_heads import EncoderHead
from reprlab.training.finetuning_settings import TaskSettings

Chunks = list[tuple[int, str]]
# Length and type of each run of tokens; a type "" stands for a token outside.
CHUNKS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["", "PER", "ARGM-LOC"])), max_size=6)


def tags_of(chunks: Chunks, first: str, inside: str, last: str, alone: str, outside: str = "O") -> list[str]:
    found = []
    for length, kind in chunks:
        places = [alone] if length == 1 else [first, *[inside] * (length - 2), last]
        found += [f"{place}-{kind}" if kind else outside for place in places]
    return found


SCHEMES = {"IOB2": "BIIB", "IOBES": "BIES", "BILOU": "BILU", "BMES": "BMES", "BMEWO": "BMEW"}


@settings(deadline=None)
@given(CHUNKS)
def test_all_schemes_mark_the_same_chunks(chunks: Chunks) -> None:
    wanted, place = set(), 0
    for length, kind in chunks:
        if kind:
            wanted.add((place, place + length, kind))
        place += length
    for letters in SCHEMES.values():
        tags = tags_of(chunks, *letters)
        assert entities(tags) == wanted
        assert iob2(tags) == tags_of(chunks, *SCHEMES["IOB2"]) == iob2(iob2(tags))


@pytest.mark.parametrize(
    ("tags", "wanted"),
    [
        ("B I I O B I", {(0, 3, ""), (4, 6, "")}),
        ("O B-PER I-LOC O B-LOC I-PER", {(1, 2, "PER"), (2, 3, "LOC"), (4, 5, "LOC"), (5, 6, "PER")}),
        ("I-PER I-PER", {(0, 2, "PER")}),
        # IOE2 marks ends alone; behind an end or a whole, what goes on is another chunk.
        ("I-PER E-PER E-PER", {(0, 2, "PER"), (2, 3, "PER")}),
        ("S-PER I-PER", {(0, 1, "PER"), (1, 2, "PER")}),
        ("B-PER L-LOC", {(0, 1, "PER"), (1, 2, "LOC")}),
    ],
)
def test_known_answers(tags: str, wanted: set[tuple[int, int, str]]) -> None:
    assert entities(tags.split()) == wanted


def test_an_answer_with_every_end_wrong_is_wrong() -> None:
    gold, answer = ["B-PER", "E-PER", "O", "S-LOC"], ["B-PER", "I-PER", "E-PER", "S-LOC"]
    assert score("entity_f1", [gold], [answer]) == 50.0


@pytest.mark.parametrize("tag", ["PER", "X-PER", "b-PER", "B_PER", "PER-B", "", "-PER"])
def test_a_tag_of_no_scheme_is_refused(tag: str) -> None:
    with pytest.raises(ReprlabError, match="is not of IOB, IOBES, BILOU or BMES"):
        entities(["O", "B-PER", tag])
    with pytest.raises(ReprlabError, match="is not of IOB, IOBES, BILOU or BMES"):
        target("ner", {"tokens": ["a", "b", "c"], "tags": ["O", "B-PER", tag]})
    labels = ("O", "B-PER", tag)
    given = TaskSettings(kind="tags", metrics=["entity_f1"], input_length=8)
    tokenizer = SimpleNamespace(is_fast=True, pad_token_id=0)
    with pytest.raises(ReprlabError, match="is not of IOB, IOBES, BILOU or BMES"):
        EncoderHead(given, labels, tokenizer, Path("x"))
    EncoderHead(given.model_copy(update={"metrics": ["tag_accuracy"]}), labels, tokenizer, Path("x"))


@pytest.mark.parametrize(
    "tags", [["NN", "-LRB-", "O"], ["N", "^", "O", "V"], ["at", "nn"], ["I-NP", "I-NP", "B-NP", "O"], ["V-PST", "N-SG"]]
)
def test_parts_of_speech_and_iob_stay_as_they_are(tags: list[str]) -> None:
    assert as_iob2([tags], "x") == [tags]


def test_a_file_is_read_by_its_own_scheme(tmp_path: Path) -> None:
    rows = read(tmp_path, "Ada S-PER\n\nNew B-LOC\nYork E-LOC\n\nis O\n")
    assert [row["tags"] for row in rows] == [["B-PER"], ["B-LOC", "I-LOC"], ["O"]]
    assert [row["tags"] for row in read(tmp_path, "Ada S-PER\nin O\n", typed=False)] == [["B", "O"]]
    with pytest.raises(ReprlabError, match=r"input: the tag 'Q-LOC' is not of IOB"):
        read(tmp_path, "Ada B-PER\nin O\nRome Q-LOC\n")
    # A no-break space is part of its token, and a carriage return within one too.
    (row,) = read(tmp_path, "10\u00a0km B-X\r\nfar O\r\n")
    assert row["tokens"] == ["10\u00a0km", "far"]


def read(folder: Path, text: str, **options: bool) -> list[dict[str, object]]:
    (folder / "input").write_bytes(text.encode())
    sources = Sources({"a": Planted({"input": folder / "input"}, "input")})  # type: ignore[dict-item]
    given = column_tags.Settings(tagged={"train": ["input"]}, column=1, columns=2, **options)
    return list(column_tags.read(sources, given, SplitSettings()))
