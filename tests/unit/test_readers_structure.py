"""Readers of tags, passages, triples and roles on hand-made files in their true formats, and on mirrored files."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from data_fixtures import task
from reader_cases import CASES, READER, TAGGED, parquet_bytes, reads
from reprlab.data.archives import Archive
from reprlab.data.downloads import obtain, write_receipt
from reprlab.data.examples import examples_of
from reprlab.data.readers.brown_tagged import base_tag
from reprlab.data.readers.column_tags import iob2
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import Limits
from reprlab.registry.datasets import load_registry
from reprlab.runtime.errors import ReprlabError
from reprlab.structure.formats import source, target

REGISTRY = Path(__file__).parents[2] / "config" / "datasets.yaml"


def rows_of(name: str, folder: Path, content: bytes | None = None) -> Any:
    case = CASES[name]
    path = folder / f"main.{case.suffix}"
    path.write_bytes(case.good if content is None else content)
    return case.read(path)


def test_tags_of_iob1_are_read_as_iob2() -> None:
    """Trap T14: chunks of CoNLL-2003 as its shared task wrote them agree with those of CoNLL-2000."""
    iob1 = ["I-NP", "I-NP", "B-NP", "I-VP", "O", "I-VP", "B-VP", "O"]
    wanted = ["B-NP", "I-NP", "B-NP", "B-VP", "O", "B-VP", "B-VP", "O"]
    assert iob2(iob1) == wanted == iob2(wanted) and iob2([]) == []
    registry = load_registry(REGISTRY)
    for name in ("conll2003_chunks", "conll2000_chunks"):
        assert registry.task(name).options["iob2"]


def test_parts_of_speech_of_brown_without_their_marks() -> None:
    tags = {"nn-tl-hl": "nn", "bez*": "bez", "ppss+bem": "ppss", "fw-in+at-tl": "in", "--": "--", "---hl": "--",
            "*": "*", "*-hl": "*", "fw-*-tl": "*", "np$": "np$", "wps+hvz*": "wps"}  # fmt: skip
    assert {tag: base_tag(tag) for tag in tags} == tags


def test_universal_dependencies(tmp_path: Path) -> None:
    rows = rows_of("conllu", tmp_path)
    assert rows[0]["tokens"] == ["I", "did", "n't", "."] and rows[0]["tags"] == ["PRON", "VERB", "VERB", "PUNCT"]
    assert [row["group"] for row in rows] == ["train-1", "train-1", "train-2", "train-2"]
    passages = rows_of("conllu_passages", tmp_path)
    assert [row["sentences"] for row in passages] == [["I didn't.", "So it is."]] * 2
    with pytest.raises(ReprlabError, match="sentence 1 has no line that starts with '# text = '"):
        rows_of("conllu_passages", tmp_path, b"1\tI\tI\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n")
    with pytest.raises(ReprlabError, match="line 1 has 2 columns, expected 10"):
        rows_of("conllu", tmp_path, b"1\tI\n")


def test_trees_become_text(tmp_path: Path) -> None:
    (row,) = rows_of("penn_trees", tmp_path)
    assert row["sentences"] == ["Mr. Vinken is (1/2).", "He didn't \"."]
    for broken in (b"( (S (NP (PRP He) )\n", b"( (S (-NONE- *) ))\n"):
        with pytest.raises(ReprlabError, match="tree 1 has no words or parentheses"):
            rows_of("penn_trees", tmp_path, broken)


def test_extractions_of_a_sentence_are_one_example(tmp_path: Path) -> None:
    lines = b"A b c .\tb\tA\tc\nD e .\te\tD\nA b c .\tb c\tA\tx\ty\n"
    first, second = rows_of("extraction_lines", tmp_path, lines)
    assert target("openie", first) == "(A; b; c) (A; b c; x y)" and source("openie", first) == "A b c ."
    assert target("openie", second) == "(D; e; )"
    with pytest.raises(ReprlabError, match="line 1 has not a sentence"):
        rows_of("extraction_lines", tmp_path, b"A b c .\tb\n")


def test_webnlg_is_turned_round(tmp_path: Path) -> None:
    (row,) = rows_of("webnlg", tmp_path)
    assert target("openie", row) == "(A B; has; C) (C; of; D)" and source("openie", row) == "A B has C of D."


def test_relations_have_marked_entities(tmp_path: Path) -> None:
    (row,) = rows_of("marked_relations", tmp_path)
    assert source("relations", row) == "<e1> Smith </e1> of <e2> New York </e2> spoke"
    assert target("relations", row) == "(Smith, Live_In, New York)"


def test_roles_of_conll_2012(tmp_path: Path) -> None:
    (row,) = rows_of("conll_roles", tmp_path)
    assert row["tokens"] == ["She", "said", "he", "left"] and row["verbs"] == [1, 3]
    assert row["tags"] == ["B-ARG0", "B-V", "B-ARG1", "I-ARG1", "O", "O", "B-ARG0", "B-V"]
    assert target("srl", row) == "said (ARG0: She, ARG1: he left), left (ARG0: he)"
    good = CASES["conll_roles"].good
    for old, new, message in (
        (b"(ARG1* ", b"(ARG1( ", r"line 4 has the role '\(ARG1\('"),
        (b"(V*) *", b"* *", "line 2 opens a sentence with roles of no verb"),
        (b"* *) (V*) -", b"* *) -", "line 5 has 13 columns"),
    ):
        assert old in good
        with pytest.raises(ReprlabError, match=message):
            rows_of("conll_roles", tmp_path, good.replace(old, new, 1))


def test_tags_of_parquet_are_numbers_or_words(tmp_path: Path) -> None:
    (row,) = rows_of("tagged_parquet", tmp_path)
    assert row["tags"] == ["B-cell line", "I-cell line", "O"]
    assert target("ner", row) == "(HeLa cells: cell line)"
    unknown = parquet_bytes({"tokens": [["a"]], "ner_tags": [[7]]})
    with pytest.raises(ReprlabError, match="row 0: not words with a known tag each"):
        rows_of("tagged_parquet", tmp_path, unknown)


def test_rows_of_two_files_of_a_split_have_names_of_their_own(tmp_path: Path) -> None:
    """Species-800 trains on its validation file too."""
    files = [{"file": "main", "split": "train"}, {"file": "other", "split": "train"}]
    options = {"files": files, "names": ["O", "B-cell line", "I-cell line"]}
    entry = task(reader="tagged_parquet", kind="tags", labels=options["names"], options=options, **READER)
    (tmp_path / "main.parquet").write_bytes(TAGGED)
    other = parquet_bytes({"tokens": [["Cells", "grow"]], "ner_tags": [[0, 0]]})
    rows = reads(entry, beside={"other": other})(tmp_path / "main.parquet")
    assert [row["id"] for row in rows] == ["train-0", "train-2"]


def test_documents_of_trec_have_their_title_and_judged_ones_their_grade(tmp_path: Path) -> None:
    rows = rows_of("trec_collection", tmp_path)
    found = [(row["query"], row["passage_id"], row["passage"], row["relevance"]) for row in rows]
    assert found == [("what is it", "D1", "One a b", 3), ("what is it", "D2", "c", 0), ("", "D3", "Three d", 0)]
    good = CASES["trec_collection"].good
    with pytest.raises(ReprlabError, match="the collection has 4 documents, 3 are published"):
        rows_of("trec_collection", tmp_path, good + b"D4\tx\ty\tz\n")
    with pytest.raises(ReprlabError, match="judges document D2 for query 7, and the document is not in"):
        rows_of("trec_collection", tmp_path, good.replace(b"D2", b"D5"))
    with pytest.raises(ReprlabError, match="line 1 has 3 columns, expected 4"):
        rows_of("trec_collection", tmp_path, good.replace(b"\tOne", b"", 1))


MIRRORED = {
    "conll2000_chunks": {"train": 8936, "test": 2012},
    "conll2000_pos": {"train": 8936, "test": 2012},
    "ewt_pos": {"train": 2001, "test": 2077},
    "ewt_passages": {"train": 386, "test": 389},
    "ewt_short_passages": {"train": 382, "test": 412},
    "ptb_short_passages": {"train": 234, "validation": 26, "test": 64},
    # Of 641 sentences each; the others have no extraction.
    "carb": {"train": 638, "test": 634},
}


@pytest.mark.parametrize("name", MIRRORED)
def test_mirrored_sets_have_their_published_sizes(name: str, tmp_path: Path) -> None:
    rows = mirrored(name, tmp_path)
    assert Counter(row["split"] for row in rows) == MIRRORED[name]


def test_the_treebank_sample_has_its_published_size(tmp_path: Path) -> None:
    """3,914 sentences in 199 documents; those that are alone in a passage have no boundary."""
    rows = mirrored("ptb_passages", tmp_path)
    assert 3850 < sum(len(row["sentences"]) for row in rows) <= 3914
    assert len({row["group"] for row in rows}) == 191
    assert rows[0]["sentences"][1] == "Mr. Vinken is chairman of Elsevier N.V., the Dutch publishing group."


def mirrored(name: str, cache: Path) -> list[dict[str, Any]]:
    registry = load_registry(REGISTRY)
    entry = registry.task(name)
    archive = registry.archive(entry.archives[0])
    repository = archive.origins[0].removeprefix("github:").partition("@")[0]
    if not (Path(os.environ.get("REPRLAB_MIRROR", "/nonexistent")) / "github" / repository).is_dir():
        pytest.skip("REPRLAB_MIRROR has no tagged sentences")
    fetched = [obtain(archive, file, cache) for file in archive.files]
    write_receipt(archive, fetched, cache / "receipt.json")
    return examples_of(entry, Sources({archive.name: Archive.open(cache, cache / "receipt.json")}), Limits())
