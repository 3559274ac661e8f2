"""Each reader on a small sample of its true format."""

import bz2
import gzip
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from data_fixtures import corpus, file_set, make_tgz, make_zip, sources_of, task
from reprlab.data.documents import documents_of
from reprlab.data.examples import examples_of
from reprlab.data.readers.brown import running_text
from reprlab.data.readers.discoeval import POSITION_LABELS
from reprlab.data.sources import Sources
from reprlab.data.wikitext import paragraphs
from reprlab.plugins import load_plugin
from reprlab.registry.dataset_entries import CorpusEntry, Limits, SplitSettings, TaskEntry, reader_settings
from reprlab.runtime.errors import ReprlabError


def read(entry: TaskEntry | CorpusEntry, sources: Sources) -> list[dict[str, Any]]:
    reader = load_plugin("data.readers", entry.reader)
    return list(reader.read(sources, reader_settings(entry), entry.splits))


def zipped(tmp_path: Path, members: dict[str, bytes]) -> Sources:
    return sources_of(make_zip(tmp_path / "a.zip", members), tmp_path / "cache")


WIKITEXT = """{{Infobox|name={{nested|{{deep}}}}}}
'''Albedo''' is the ''measure'' of [[reflectance|reflected light]] of the [[Sun]]<ref name="a">Not [[this]]</ref>
and<ref name="b"/> it was {{convert|5|km}} away ({{IPA|x}}; from Latin).<!-- no -->

[[File:Sun.jpg|thumb|A caption with [[a link]] and [http://x.org site]]]
{| class="wikitable"
| cell {{x}}
{| inner table
|}
|}
* a list item
== Section ==
Second &amp; last paragraph [http://example.org of words] here&nbsp;now [[:Category:Things|things]].[3] [[de:Ding]]
== See also ==
This must not be there at all.
=== Sub ===
Nor this.
== After ==
But this third paragraph is prose again.
[[Category:Light]]
"""


def test_wikitext_becomes_prose() -> None:
    assert paragraphs(WIKITEXT, 4) == [
        "Albedo is the measure of reflected light of the Sun and it was 5 km away (from Latin).",
        "Second & last paragraph of words here now things.",
        "But this third paragraph is prose again.",
    ]


def export(pages: list[tuple[str, str, str]]) -> bytes:
    body = "".join(
        f"<page><title>{title}</title><ns>{space}</ns><id>{number}</id><revision><id>9</id>"
        f"<text>{text}</text></revision></page>"
        for number, (title, space, text) in enumerate(pages)
    )
    return bz2.compress(f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/">{body}</mediawiki>'.encode())


def wiki(**options: object) -> CorpusEntry:
    return corpus(reader="mediawiki", options={"member": "w.bz2", "min_document_words": 5, **options})


def test_mediawiki_takes_articles_only(tmp_path: Path) -> None:
    text = "This is a paragraph of nine words and more."
    pages = [("A", "0", text), ("B", "0", "#REDIRECT [[A]]"), ("C", "1", text), ("D", "0", ""), ("Ähre", "0", text)]
    rows = read(wiki(), zipped(tmp_path, {"w.bz2": export(pages)}))
    assert [(row["id"], row["source"], row["text"]) for row in rows] == [
        ("article-0", "A", text),
        ("article-4", "Ähre", text),
    ]


def test_a_broken_export_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReprlabError, match="not a MediaWiki export"):
        read(wiki(), zipped(tmp_path, {"w.bz2": export([])[:-20]}))


def test_documents_are_deduplicated_before_the_split(tmp_path: Path) -> None:
    lines = "\n".join(["Same text here.", "same  TEXT here.", *(f"text {number}" for number in range(60)), "", " "])
    rows = list(documents_of(corpus(), zipped(tmp_path, {"lines.txt": lines.encode()})))
    assert len(rows) == 61
    assert {row["split"] for row in rows} == {"train", "validation", "test"}


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReprlabError, match=r"lines\.txt: byte 3 is not utf-8"):
        list(documents_of(corpus(), zipped(tmp_path, {"lines.txt": b"abc\xff"})))


def test_too_few_documents_for_the_splits(tmp_path: Path) -> None:
    with pytest.raises(ReprlabError, match="no group fell into"):
        list(documents_of(corpus(), zipped(tmp_path, {"lines.txt": b"one"})))
    with pytest.raises(ReprlabError, match="the reader found nothing in its files"):
        list(documents_of(corpus(), zipped(tmp_path, {"lines.txt": b""})))


def test_brown_text_and_genres(tmp_path: Path) -> None:
    members = {
        "package/cats.txt": b"ca01 news\ncb01 fiction\n",
        "package/ca01": b"\n\n\t``/`` Hello/uh ''/'' ,/, Jr./np ./.\n\nAnd/cc 1\\/2/cd (/( caf\xe9/nn )/) ;/. ;/.\n\n"
        b"\tEnd/vb ./.\n",
        "package/cb01": b"\tA/at b/nn ./.\n",
    }
    archive = make_tgz(tmp_path / "b.tgz", dict(members))
    entry = corpus(reader="brown", options={"genres": ["news"]})
    rows = read(entry, sources_of(archive, tmp_path / "cache"))
    assert rows == [{"id": "brown-ca01", "text": '"Hello", Jr. And 1\\/2 (café);\n\nEnd.', "source": "news"}]
    with pytest.raises(ReprlabError, match="no genre 'newz'"):
        read(corpus(reader="brown", options={"genres": ["newz"]}), sources_of(archive, tmp_path / "cache"))
    assert running_text(["He", "said", ",", "``", "Is", "it", "?", "''"]) == 'He said, "Is it?"'


def test_austen_chapters(tmp_path: Path) -> None:
    lines = [
        "EMMA",
        "",
        "By Jane Austen",
        "",
        "VOLUME I",
        "CHAPTER I",
        "",
        "It was",
        "a start.",
        "",
        "Then this.",
        "CHAPTER II",
        "More é.",
    ]
    record = b"".join(b"\x00\x04\x00\x09" + struct.pack(">i", len(x.encode())) + x.encode() for x in lines)
    database = (struct.pack(">I", len(record)) + zlib.compress(record)) * 2
    entry = corpus(reader="r_austen", options={"member": "Rdata.rdb", "min_document_words": 2})
    rows = read(entry, zipped(tmp_path, {"Rdata.rdb": database}))
    assert [row["text"] for row in rows[:3]] == ["EMMA\n\nBy Jane Austen", "It was a start.\n\nThen this.", "More é."]
    assert {row["source"] for row in rows} == {"Emma"}
    with pytest.raises(ReprlabError, match="not a database of R data"):
        read(entry, sources_of(make_zip(tmp_path / "c.zip", {"Rdata.rdb": database[:-9]}), tmp_path / "cache"))


def test_handbook_paragraphs(tmp_path: Path) -> None:
    page = (
        '<html><body><h1>No</h1><div class="section"><div class="para">One <em>two</em>\n&amp; three'
        '<ul><li><div class="para">inner</div></li></ul> four.</div><pre>code</pre></div></body></html>'
    )
    entry = corpus(reader="handbook", options={"pages": "html/*.html", "min_document_words": 1})
    rows = read(entry, zipped(tmp_path, {"html/a.html": page.encode(), "html/b.html": b"<p>no</p>", "x.css": b""}))
    assert rows == [{"id": "handbook-a", "text": "One two & three four.\n\ninner", "source": "a"}]


@pytest.mark.parametrize("section", [b'<![<div class="para"', b"<![DATA[Words"])
def test_a_handbook_page_that_is_no_html_is_named(tmp_path: Path, section: bytes) -> None:
    entry = corpus(reader="handbook", options={"pages": "html/*.html", "min_document_words": 1})
    page = b'<div class="para">' + section + b"</div>"
    with pytest.raises(ReprlabError, match=r"a\.html: not readable as HTML"):
        read(entry, zipped(tmp_path, {"html/a.html": page}))


RATINGS = b"1_1\t2.5\tGood &amp; nice\r\n1_2\t0\tzero\n2_1\t-0.5\tcaf\xe9 bad\n\n"


def test_ratings_by_sign(tmp_path: Path) -> None:
    rows = read(task(), zipped(tmp_path, {"ratings.txt": RATINGS}))
    assert rows == [
        {"id": "1_1", "group": "1", "text": "Good & nice", "label": "positive"},
        {"id": "2_1", "group": "2", "text": "café bad", "label": "negative"},
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1\tx\ty", "line 1: the rating 'x'"),
        (b"1\t9\ty", "outside -4 to 4"),
        (b"1\t2", "line 1 has 2 cells, expected 3"),
    ],
)
def test_a_bad_rating_is_named(tmp_path: Path, line: bytes, message: str) -> None:
    with pytest.raises(ReprlabError, match=message):
        read(task(), zipped(tmp_path, {"ratings.txt": line}))


def test_a_label_outside_the_set_raises(tmp_path: Path) -> None:
    with pytest.raises(ReprlabError, match=r"toy: example 0 \(1_1\): label 'positive' is outside"):
        examples_of(task(labels=["neg", "pos"]), zipped(tmp_path, {"ratings.txt": RATINGS}), Limits())


def test_pairs_stay_together(tmp_path: Path) -> None:
    items = [{"input": f"the cat {n} ", "target_scores": {"sits.": 1, "sit.": 0}} for n in range(80)]
    items.append({"input": "broken ", "target_scores": {"x": 0}})
    entry = task(
        reader="bigbench_pairs", options={"members": ["t.json"]}, role="cola", labels=["unacceptable", "acceptable"]
    )
    rows = examples_of(entry, zipped(tmp_path, {"t.json": json.dumps({"examples": items}).encode()}), Limits())
    assert len(rows) == 160
    assert rows[0]["text"] == "the cat 0 sits." and rows[0]["label"] == "acceptable"
    assert rows[1]["text"] == "the cat 0 sit." and rows[1]["label"] == "unacceptable"
    by_group: dict[str, set[str]] = {}
    for row in rows:
        by_group.setdefault(row["group"], set()).add(row["split"])
    assert all(len(splits) == 1 for splits in by_group.values())


def test_vitaminc(tmp_path: Path) -> None:
    def item(title: str, answer: str) -> dict[str, Any]:
        scores = {"True": 0, "False": 0, "Neither": 0, answer: 1}
        return {"input": f"{title}: It -LRB- 9.8\ufffdm -RRB- .\x07\nClaim: claim on {title}", "target_scores": scores}

    items = [item(f"T{n}", answer) for n in range(40) for answer in ("True",)]
    items += [item(f"COVID-19 in {n}", "False") for n in range(10)]
    entry = task(
        reader="vitaminc", options={"member": "t.json"}, kind="pair", role="mnli",
        labels=["entailment", "neutral", "contradiction"], splits=SplitSettings(train=0.6, validation=0.2, test=0.2),
    )  # fmt: skip
    rows = examples_of(entry, zipped(tmp_path, {"t.json": json.dumps({"examples": items}).encode()}), Limits())
    assert rows[0]["text_a"] == "T0: It ( 9.8 m ) ." and rows[0]["label"] == "entailment"
    mismatched = [row for row in rows if row["subset"] == "mismatched"]
    assert len(mismatched) == 10 and {row["split"] for row in mismatched} == {"validation", "test"}


def test_natural_instructions_hold_tasks_out(tmp_path: Path) -> None:
    def one(name: str) -> bytes:
        examples = [{"input": f"{name} {n} ", "target": [f"a{n}.", "b"]} for n in range(6)]
        return json.dumps({"task_prefix": "Definition: Do it.", "examples": examples}).encode()

    entry = task(
        reader="natural_instructions", kind="text_to_text", role="ni", labels=[],
        options={"folder": "ni", "train": ["s1", "s2"], "test": ["s3"], "instances": 3},
    )  # fmt: skip
    sources = zipped(tmp_path, {f"ni/s{n}/task.json": one(f"s{n}") for n in (1, 2, 3)})
    rows = examples_of(entry, sources, Limits())
    assert len(rows) == 9 and {(row["task"], row["split"]) for row in rows} == {
        ("s1", "train"), ("s2", "train"), ("s3", "test"),
    }  # fmt: skip
    first = rows[0]
    assert first["definition"] == "Do it." and len(first["targets"]) == 2 and len(first["positive_inputs"]) == 2
    shown = {row["task"]: row["positive_inputs"] for row in rows}
    assert not any(row["source"] in shown[row["task"]] for row in rows)
    with pytest.raises(ReprlabError, match="named in two splits"):
        reader_settings(task(reader="natural_instructions", options={"folder": "x", "train": ["a"], "test": ["a"]}))


def test_super_natural_instructions(tmp_path: Path) -> None:
    content = {
        "Definition": ["Do it."],
        "Positive Examples": [{"input": "i", "output": "o", "explanation": "e"}] * 3,
        "Instances": [{"id": f"t1-{n}", "input": f"x{n}", "output": ["y", "z"]} for n in range(5)],
    }
    files = {
        "splits/default/train_tasks.txt": b"t1\n", "splits/default/test_tasks.txt": b"t2\n",
        "tasks/t1.json": json.dumps(content).encode(),
        "tasks/t2.json": json.dumps(content).replace("t1-", "t2-").replace('["Do it."]', '"Do it."').encode(),
    }  # fmt: skip
    entry = task(
        reader="superni_github", kind="text_to_text", role="ni", labels=[],
        options={"instances": 4, "validation_share": 0},
    )  # fmt: skip
    rows = examples_of(entry, file_set(files, tmp_path), Limits())
    assert [row["split"] for row in rows] == ["train"] * 4 + ["test"] * 4
    assert rows[4]["definition"] == "Do it." and rows[4]["positive_outputs"] == ["o", "o"]
    assert rows[0]["targets"] == ["y", "z"]


def parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


def test_glue_parquet(tmp_path: Path) -> None:
    rows = [{"premise": f"p{n}", "hypothesis": f"h{n}", "label": n % 3, "idx": n} for n in range(4)]
    files = {"m/train.parquet": parquet(rows), "m/mm.parquet": parquet(rows[:2])}
    entry = task(
        reader="glue_hub", kind="pair", role="mnli", labels=["entailment", "neutral", "contradiction"],
        options={
            "files": [
                {"file": "m/train.parquet", "split": "train"},
                {"file": "m/mm.parquet", "split": "validation", "subset": "mismatched"},
            ],
            "texts": ["premise", "hypothesis"], "label_names": ["entailment", "neutral", "contradiction"],
        },
    )  # fmt: skip
    found = examples_of(entry, file_set(files, tmp_path), Limits())
    assert [row["label"] for row in found[:3]] == ["entailment", "neutral", "contradiction"]
    assert found[5]["subset"] == "mismatched" and found[5]["split"] == "validation" and found[5]["text_b"] == "h1"
    unlabelled = file_set({"m/train.parquet": parquet([{**rows[0], "label": -1}]), "m/mm.parquet": b"x"}, tmp_path)
    with pytest.raises(ReprlabError, match="the label -1 is outside 0 to 2"):
        examples_of(entry, unlabelled, Limits())


def test_scores_and_sets_of_texts_from_the_hub(tmp_path: Path) -> None:
    rows = [{"sentence_A": "a b", "sentence_B": "c", "relatedness_score": 4.5, "label": 1}]
    options = {"files": [{"file": "x", "split": "test"}], "texts": ["sentence_A", "sentence_B"], "numbered": False}
    scored = task(reader="glue_hub", kind="similarity", labels=[], options={**options, "label": "relatedness_score"})
    (found,) = examples_of(scored, file_set({"x": parquet(rows)}, tmp_path), Limits())
    assert (found["text_a"], found["text_b"], found["score"], found["split"]) == ("a b", "c", 4.5, "test")
    grouped = task(reader="clusters_hub", kind="single", labels=["0", "7"], options={"file": "x"})
    sets = [{"sentences": ["a", "b"], "labels": [0, 7]}, {"sentences": ["a"], "labels": [7]}]
    found = examples_of(grouped, file_set({"x": parquet(sets)}, tmp_path), Limits())
    assert [(row["subset"], row["text"], row["label"]) for row in found] == [
        ("0", "a", "0"), ("0", "b", "7"), ("1", "a", "7"),
    ]  # fmt: skip
    with pytest.raises(ReprlabError, match="row 1 has 1 texts and 2 labels"):
        sets[1]["labels"] = [7, 7]
        examples_of(grouped, file_set({"x": parquet(sets)}, tmp_path), Limits())


def test_triples_of_simcse(tmp_path: Path) -> None:
    text = 'sent0,sent1,hard_neg\n"He said, ""no"".",He spoke.,He left.\nA,B,C\n'
    entry = task(reader="simcse_triples", kind="choice", labels=[], options={"file": "x.csv", "triples": 2})
    first, _ = examples_of(entry, file_set({"x.csv": text.encode()}, tmp_path), Limits())
    assert first["question"] == 'He said, "no".' and first["choices"] == ["He spoke.", "He left."]
    assert (first["answer"], first["split"]) == (0, "train")
    for wrong, message in ((text[:-6], "1 triples, 2 are"), (text + "a,,b\n", "triple 2"), ("a,b\n", "first line")):
        with pytest.raises(ReprlabError, match=message):
            examples_of(entry, file_set({"x.csv": wrong.encode()}, tmp_path), Limits())


def test_triples_in_json_lines(tmp_path: Path) -> None:
    lines = [{"query": f" q{n}", "positive": f"p{n}", "negative": f"n{n}"} for n in range(3)]
    entry = task(reader="triple_lines", kind="choice", labels=[], options={"file": "x.jsonl"})
    text = "\n".join(map(json.dumps, lines))
    found = examples_of(entry, file_set({"x.jsonl": text.encode()}, tmp_path), Limits())
    assert [(row["question"], row["choices"], row["split"]) for row in found] == [
        (f"q{n}", [f"p{n}", f"n{n}"], "train") for n in range(3)
    ], "in the order of the file: instructions are given by row"
    for wrong in ('{"query": "a", "positive": "b"}', "[1]", '{"query": 1, "positive": "b", "negative": "c"}', "{"):
        with pytest.raises(ReprlabError, match="line 4"):
            examples_of(entry, file_set({"x.jsonl": f"{text}\n{wrong}".encode()}, tmp_path), Limits())


def lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def of_mteb(options: dict[str, Any], content: bytes, tmp_path: Path, **more: Any) -> list[dict[str, Any]]:
    """What mteb_lines reads from the file of the test split, gzipped."""
    options = {"files": [{"file": "x.jsonl.gz", "split": "test"}], **options}
    entry = task(reader="mteb_lines", options=options, **{"labels": [], **more})
    return examples_of(entry, file_set({"x.jsonl.gz": gzip.compress(content)}, tmp_path), Limits())


def test_candidates_of_mteb(tmp_path: Path) -> None:
    first = {"query": "q", "positive": ["a", "b"], "negative": ["c"]}
    # The same query stands there twice; one without candidates of both kinds is left out, as mteb does.
    content = lines(first, {**first, "positive": []}, {**first, "positive": ["b"]})
    rows = of_mteb({"texts": ["query", "positive", "negative"]}, content, tmp_path, kind="ranking")
    assert [(row["query_id"], row["passage"], row["relevance"]) for row in rows] == [
        ("1", "a", 1), ("1", "b", 1), ("1", "c", 0), ("3", "b", 1), ("3", "c", 0),
    ]  # fmt: skip
    assert {row["split"] for row in rows} == {"test"} and {row["query"] for row in rows} == {"q"}
    with pytest.raises(ReprlabError, match="the entry reads query, positive, others: others is missing"):
        of_mteb({"texts": ["query", "positive", "others"]}, content, tmp_path, kind="ranking")


def test_sets_and_pairs_of_mteb(tmp_path: Path) -> None:
    sets = [{"sentences": ["a", "b"], "labels": ["zoology", "ecology"]}, {"sentences": ["a"], "labels": ["ecology"]}]
    form = {"texts": ["sentences"], "label": "labels"}
    found = of_mteb(form, lines(*sets), tmp_path, kind="single", labels=["ecology", "zoology"])
    assert [(row["subset"], row["text"], row["label"]) for row in found] == [
        ("1", "a", "zoology"), ("1", "b", "ecology"), ("2", "a", "ecology"),
    ]  # fmt: skip
    with pytest.raises(ReprlabError, match="line 2: not an example of mteb"):
        of_mteb(form, lines(sets[0], {**sets[1], "labels": []}), tmp_path, kind="single", labels=["ecology", "zoology"])
    all_pairs = {"sent1": ["a", "b"], "sent2": ["c", "d"], "labels": [1, 0]}
    form = {"texts": ["sent1", "sent2"], "label": "labels", "label_names": ["other", "same"]}
    found = of_mteb(form, lines(all_pairs), tmp_path, kind="pair", labels=["other", "same"])
    assert [(row["text_a"], row["text_b"], row["label"]) for row in found] == [("a", "c", "same"), ("b", "d", "other")]
    for wrong in (2, -1, "1", None):
        with pytest.raises(ReprlabError, match="line 1: not an example of mteb"):
            of_mteb(form, lines({**all_pairs, "labels": [1, wrong]}), tmp_path, kind="pair", labels=["other", "same"])
    rated = {"sentence1": "a", "sentence2": "b", "score": 2.4, "lang": "en-en"}
    form = {"texts": ["sentence1", "sentence2"], "score": "score"}
    (found,) = of_mteb(form, lines(rated), tmp_path, kind="similarity")
    assert (found["text_a"], found["text_b"], found["score"]) == ("a", "b", 2.4)


def test_labels_of_mteb(tmp_path: Path) -> None:
    # Banking77 is not gzipped and has numbers, MASSIVE is gzipped and has names.
    files = {
        "train.jsonl": lines({"text": "a", "label": 11, "label_text": "card"}),
        "en.json.gz": gzip.compress(lines({"id": "7", "text": "b", "label": "alarm_set", "lang": "en"})),
    }
    options = {"texts": ["text"], "label": "label", "files": [{"file": "train.jsonl", "split": "train"},
                                                             {"file": "en.json.gz", "split": "test"}]}  # fmt: skip
    entry = task(reader="mteb_lines", kind="single", labels=["11", "alarm_set"], options=options)
    found = examples_of(entry, file_set(files, tmp_path), Limits())
    assert [(row["split"], row["text"], row["label"], row["subset"]) for row in found] == [
        ("train", "a", "11", ""), ("test", "b", "alarm_set", ""),
    ]  # fmt: skip
    files["en.json.gz"] = files["en.json.gz"][:-9]
    with pytest.raises(ReprlabError, match="broken after line"):
        examples_of(entry, file_set(files, tmp_path), Limits())
    for wrong in ({"score": "x"}, {"label": ""}, {"texts": ["a", "b", "c"]}):
        with pytest.raises(ReprlabError, match="have a label or a score"):
            examples_of(entry.model_copy(update={"options": {**options, **wrong}}), file_set(files, tmp_path), Limits())


def test_c4_json_lines(tmp_path: Path) -> None:
    def shard(name: str, count: int) -> bytes:
        lines = [json.dumps({"text": f"{name} {n}", "timestamp": "t", "url": f"http://x/{n}"}) for n in range(count)]
        return gzip.compress("\n".join(lines).encode())

    files = {
        "en/c4-train.00000-of-01024.json.gz": shard("a", 3), "en/c4-train.00001-of-01024.json.gz": shard("b", 3),
        "en/c4-validation.00000-of-00008.json.gz": shard("v", 5),
    }  # fmt: skip
    entry = corpus(reader="c4_hub", options={"train_documents": 4, "validation_documents": 2})
    rows = list(documents_of(entry, file_set(files, tmp_path)))
    assert [row["text"] for row in rows] == ["a 0", "a 1", "a 2", "b 0", "v 0", "v 1"]
    assert [row["split"] for row in rows] == ["train"] * 4 + ["validation"] * 2
    files["en/c4-train.00000-of-01024.json.gz"] = gzip.compress(b'{"text": "x"}\n')
    with pytest.raises(ReprlabError, match="has text and the entry reads text, url: url is missing"):
        list(documents_of(entry, file_set(files, tmp_path)))


SP = "2\tc\ta\tb\td\te\n0\ta\tb\tc\td\te\n"


def discoeval(**changes: object) -> TaskEntry:
    options = {"task": "sp", "folder": "data/SP/toy"}
    return task(
        **{
            "reader": "discoeval",
            "kind": "sentences",
            "role": "sp",
            "labels": POSITION_LABELS,
            "options": options,
            **changes,
        }
    )


def test_discoeval_files(tmp_path: Path) -> None:
    files = {f"data/SP/toy/{name}.txt": SP.encode() for name in ("train", "valid", "test")}
    rows = examples_of(discoeval(), file_set(files, tmp_path), Limits())
    assert len(rows) == 6 and rows[0]["label"] == "Third sentence" and rows[0]["sentences"] == ["c", "a", "b", "d", "e"]
    del files["data/SP/toy/train.txt"]
    with pytest.raises(ReprlabError, match=r"data/SP/toy/train\.txt: no archive of this entry declares"):
        examples_of(discoeval(), file_set(files, tmp_path), Limits())
    files["data/SP/toy/valid.txt"] = b"7\ta\tb\tc\td\te\n"
    with pytest.raises(ReprlabError, match="line 1: the label '7'"):
        examples_of(
            discoeval(options={"task": "sp", "folder": "data/SP/toy", "train_from_validation": 0.5}),
            file_set(files, tmp_path),
            Limits(),
        )


def test_discoeval_pairs_stay_together_when_the_validation_file_is_split(tmp_path: Path) -> None:
    lines = [f"{label}\ts{n}\tx\t{'y' if label else 'q'}\tz\tw\te{n}" for n in range(40) for label in (0, 1)]
    files = {"data/DC/toy/valid.txt": "\n".join(lines).encode(), "data/DC/toy/test.txt": lines[0].encode()}
    entry = discoeval(
        labels=["Incoherent", "Coherent"],
        options={"task": "dc", "folder": "data/DC/toy", "train_from_validation": 0.5},
    )
    rows = examples_of(entry, file_set(files, tmp_path), Limits())
    splits = [row["split"] for row in rows[:80]]
    assert splits[0::2] == splits[1::2] and set(splits) == {"train", "validation"}
    assert rows[80]["split"] == "test" and rows[80]["label"] == "Incoherent"


def segmented(path: Path, documents: int) -> Path:
    rows = [
        {"document": f"d{d}", "passage": p, "split": ("train", "validation", "test")[d % 3], "source": "s",
         "sentences": [f"doc {d} passage {p} sentence {k}" for k in range(7)]}
        for d in range(documents) for p in (0, 1)
    ]  # fmt: skip
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def recipe(kind: str) -> TaskEntry:
    labels = POSITION_LABELS if kind == "sp" else ["Incoherent", "Coherent"]
    return task(
        reader="discoeval_recipe", archives=[], documents=["toy"], kind="sentences", role=kind, labels=labels,
        options={"task": kind}, splits=SplitSettings(train=0.4, validation=0.3, test=0.3),
    )  # fmt: skip


def test_sentence_position_restores_the_order(tmp_path: Path) -> None:
    sources = Sources({}, [segmented(tmp_path / "s.parquet", 60)])
    rows = examples_of(recipe("sp"), sources, Limits())
    assert len(rows) == 40 * 2
    for row in rows:
        place = POSITION_LABELS.index(row["label"])
        first, *rest = row["sentences"]
        restored = [*rest[:place], first, *rest[place:]]
        numbers = [7 * int(s.split()[3]) + int(s.split()[5]) for s in restored]
        assert numbers == list(range(numbers[0], numbers[0] + 5))
        assert int(row["group"].removeprefix("sp:d")) % 3 != 0
    assert {row["label"] for row in rows} == set(POSITION_LABELS)


def test_coherence_replaces_one_inner_sentence_from_the_same_split(tmp_path: Path) -> None:
    sources = Sources({}, [segmented(tmp_path / "s.parquet", 60)])
    rows = examples_of(recipe("dc"), sources, Limits())
    split_of_document = {row["group"].removeprefix("dc:d"): row["split"] for row in rows}
    for whole, changed in zip(rows[0::2], rows[1::2], strict=True):
        assert (whole["label"], changed["label"]) == ("Coherent", "Incoherent")
        places = [k for k in range(6) if whole["sentences"][k] != changed["sentences"][k]]
        assert len(places) == 1 and 0 < places[0] < 5
        stranger = changed["sentences"][places[0]].split()[1]
        assert f"dc:d{stranger}" != whole["group"]
        assert split_of_document[stranger] == whole["split"]


def test_the_recipe_never_uses_what_was_pretrained_on(tmp_path: Path) -> None:
    path = segmented(tmp_path / "s.parquet", 60)
    table = pyarrow.parquet.read_table(path)
    train_only = table.filter(pyarrow.compute.equal(table["split"], "train"))
    pyarrow.parquet.write_table(train_only, path)
    with pytest.raises(ReprlabError, match="0 held-out documents are too few"):
        examples_of(recipe("sp"), Sources({}, [path]), Limits())
