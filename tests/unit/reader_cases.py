"""Every reader that stands: a good file, how it is read, and the pieces that its format is made of."""

import bz2
import gzip
import io
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import safetensors.numpy
import yaml
from coreference_samples import CONLL
from data_fixtures import corpus, task
from event_samples import EXCEPTIONS, MAVEN, RED, RED_TEXT, STORYLINE, STORYLINE_FILES, STORYLINE_PAIRS, VERBS
from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_tsv
from reprlab.config.load import load_config
from reprlab.data.documents import documents_of
from reprlab.data.examples import examples_of
from reprlab.data.schema import read_rows, schema_of, write_rows
from reprlab.data.sources import Sources
from reprlab.evaluation.examples import load_examples
from reprlab.registry.dataset_entries import CorpusEntry, Limits, SplitSettings, TaskEntry
from reprlab.registry.datasets import load_registry
from reprlab.registry.models import load_models
from reprlab.settings.yaml_text import read_yaml
from reprlab.text.completions import read_completions
from reprlab.text.parquet_batches import data_metadata, read_batches
from reprlab.text.token_counts import load_counts
from reprlab.text.token_store import TokenStore

ROOT = Path(__file__).parents[2]


class Planted:
    """Stands for a fetched archive: every member and every file is the one that was planted."""

    name = "planted"

    def __init__(self, files: dict[str, Path], main: str) -> None:
        self._files, self._main = files, main

    def member(self, name: str = "") -> Path:
        return self._files.get(name, self._files[self._main])

    file = member

    def members(self, _pattern: str) -> list[Path]:
        return [self._files[self._main]]

    def has_file(self, _name: str) -> bool:
        return True

    def place(self, name: str) -> str:
        return str(self.member(name))

    @property
    def files(self) -> list[Any]:
        return [type("File", (), {"file": name}) for name in self._files]


@dataclass(frozen=True)
class Case:
    """A reader: how it reads a file, a good file, and pieces that its format is made of."""

    suffix: str
    good: bytes
    read: Callable[[Path], object]
    pieces: tuple[bytes, ...] = ()
    # What stands around the content that is changed: compression, so that changes reach the parser behind it.
    wrap: Callable[[bytes], bytes] = bytes
    # Whether the bytes after wrapping are changed too.
    outer: bool = True


def reads(
    entry: CorpusEntry | TaskEntry, main: str = "main", beside: dict[str, bytes] | None = None
) -> Callable[[Path], object]:
    """Everything that the stage does with a reader's rows, up to the check of each."""

    def read(path: Path) -> object:
        files = {main: path}
        for name, content in (beside or {}).items():
            files[name] = path.with_name(f"beside-{name.replace('/', '-')}")
            files[name].write_bytes(content)
        archive = Planted(files, "main" if "main" in files else main)
        sources = Sources({"sample": archive}, [path])  # type: ignore[dict-item]
        if isinstance(entry, CorpusEntry):
            rows = list(documents_of(entry, sources))
            write_rows(path.with_name("out.parquet"), rows, "documents", {})
        else:
            rows = examples_of(entry, sources, Limits())
            write_rows(path.with_name("out.parquet"), rows, entry.kind, {})
        return rows

    return read


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def parquet_bytes(columns: Any, metadata: dict[bytes, bytes] | None = None) -> bytes:
    buffer = io.BytesIO()
    table = columns if isinstance(columns, pyarrow.Table) else pyarrow.table(columns)
    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), buffer)
    return buffer.getvalue()


PROSE = parquet_bytes(
    {
        "document": ["emma-0"],
        "passage": [0],
        "sentences": [["Now Emma slept.", "Then Emma woke for Emma's sake.", "So Emma saw Mr. Knightley."]],
    }
)
SPLITS = SplitSettings(train=1, validation=0, test=0)
WIKITEXT = "'''A''' is {{lang|de|ein}} [[b|word]] <ref>x</ref> of many [http://x y].\n== H ==\n* z\n{| t\n|}\n" * 2
EXPORT = (
    "<mediawiki><page><title>T</title><ns>0</ns><id>1</id><revision><text>"
    + WIKITEXT.replace("<", "&lt;")
    + "</text></revision></page></mediawiki>"
).encode()
PAIRS = {"examples": [{"input": f"The key {n}", "target_scores": {"is": 1, "are": 0}} for n in range(3)]}
CLAIMS = {
    "examples": [
        {"input": f"T{n}: Passage.\nClaim: it is", "target_scores": {"True": 1, "False": 0, "Neither": 0}}
        for n in range(3)
    ]
}
TASK = {"task_prefix": "Definition: do", "examples": [{"input": f"in {n}", "target": ["out"]} for n in range(4)]}
SUPER = {
    "Definition": ["do"], "Positive Examples": [{"input": "a", "output": "b"}],
    "Instances": [{"input": "x", "output": ["y"]}],
}  # fmt: skip
STRING = b"\x00\x04\x00\x09" + struct.pack(">i", 9) + b"CHAPTER I"
NOVEL = STRING + b"\x00\x04\x00\x09" + struct.pack(">i", 5) + b"words"
POSITIONS = b"".join(f"{n}\ta {n}.\tb.\tc.\td.\te.\n".encode() for n in range(5))
ABOUT = {b"reprlab": b'{"kind": "single", "labels": ["a", "b"], "name": "x", "licence": "y"}'}
ROW = {"group": "1", "split": "train", "text": "x", "label": "a", "subset": ""}
SINGLE = parquet_bytes(
    pyarrow.Table.from_pylist([{"id": "1", **ROW}, {"id": "2", **ROW}], schema=schema_of("single")), ABOUT
)
TOKENS = parquet_bytes(
    {
        "split": ["train", "train"],
        "input_ids": pyarrow.array([[1, 2], [3]], pyarrow.list_(pyarrow.int32())),
        "token_types": pyarrow.array([[1, 1], [1]], pyarrow.list_(pyarrow.int16())),
    }
)
COMPLETIONS = parquet_bytes(
    {
        **{name: ["a", "b"] for name in ("id", "role", "fmt", "prompt", "completion")},
        **{"turns": [[], []], "choices": [["a", "b"], []], "answer": [1, None]},
    },
    {b"reprlab": b'{"title": "x", "template": "", "kind": "training"}'},
)
COUNTS = safetensors.numpy.save({"train": np.arange(3)}, {"reprlab": '{"rows": {"train": 2}, "padding": 0}'})
SENTENCES = parquet_bytes(
    {
        "document": [f"d{n}" for n in range(6)],
        "passage": pyarrow.array([0] * 6, pyarrow.int32()),
        "split": ["test"] * 6,
        "source": ["s"] * 6,
        "sentences": [[f"one {n} {place} two three four" for place in range(5)] for n in range(6)],
    }
)
GLUE = parquet_bytes({"sentence": ["a", "b"], "label": [0, 1], "idx": [0, 1]})
JSON = (b"{", b"}", b"[", b"]", b'"', b":", b",", b"null", b"true", b"1e999", b"-0", b"NaN", b'"\\ud800"', b"[" * 3000)
XML = (
    b"<",
    b">",
    b"</page>",
    b"<page>",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"&b;",
    b"{{",
    b"}}",
    b"[[",
    b"]]",
    b"<ref>",
)
XML += (b"&lt;ref>", b"{|", b"|}", b"==", b"<!--", b"<?xml version='1.0' encoding='utf-7'?>", b"\n", b" " * 50)
TABBED = (b"\t", b"\n", b"\r", b"0", b"-5", b"nan", b"\xb2", "²".encode(), b"\x00", b"\xff")
YAML = (
    b"a: ",
    b"\n",
    b"  ",
    b"- ",
    b"[",
    b"{",
    b"&a ",
    b"*a",
    b"!!python/object:os.system ",
    b"2026-99-99",
    b"<<: ",
    b"? ",
)
GENRES = "package/cats.txt"
READER = {"archives": ["sample"], "splits": SPLITS}
CONLLU = b"".join(
    b"# newdoc id = d\n# text = I didn't.\n1\tI\tI\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"
    b"2-3\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdid\tdo\tVERB\tVBD\t_\t0\troot\t_\t_\n"
    b"3\tn't\tnot\tVERB\tRB\t_\t2\tadvmod\t_\t_\n3.1\tgo\t_\t_\t_\t_\t_\t_\t_\t_\n"
    b"4\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n# text = So it is.\n1\tit\tit\tPRON\tPRP\t_\t0\troot\t_\t_\n\n"
    for _ in range(2)
)
TREES = (
    b"\n( (S \n    (NP-SBJ (NNP Mr.) (NNP Vinken) )\n    (VP (VBZ is) (-NONE- *T*-1) (-LRB- -LRB-) (CD 1\\/2)"
    b" (-RRB- -RRB-) )\n    (. .) ))\n( (S (NP (PRP He) ) (VP (VBD did) (RB n't) ) (`` ``) (. .) ))\n"
)
ROLES = b"""#begin document (bc/a); part 000
bc/a 0 0 She PRP (TOP(S(NP*) - - - - (PERSON) (ARG0*) * (1)
bc/a 0 1 said VBD (VP* say 01 1 - * (V*) * -
bc/a 0 2 he PRP (S(NP*) - - - - * (ARG1* (ARG0*) (2)
bc/a 0 3 left VBD (VP*)))) leave 01 1 - * *) (V*) -

bc/a 0 0 Yes UH (TOP(INTJ*)) - - - - * -
#end document
"""
RELATIONS = parquet_bytes(
    {
        "tokens": [["Smith", "of", "New", "York", "spoke"]],
        "entities": [[{"type": "Peop", "start": 0, "end": 1}, {"type": "Loc", "start": 2, "end": 4}]],
        "relations": [[{"type": "Live_In", "head": 0, "tail": 1}]],
    }
)


def registry_sample() -> bytes:
    entry = task(reader="text_lines", options={"members": ["a"]}, archives=[]).model_dump(mode="json", exclude={"name"})
    archive = {
        "version": "1", "origins": ["local:/x"], "files": [{"file": "a{}", "revision": "0" * 40, "shards": 2}],
        "licence": "", "homepage": "", "purpose": "",
    }  # fmt: skip
    return yaml.safe_dump({"archives": {"sample": archive}, "corpora": {}, "tasks": {"toy": entry}}).encode()


def discoeval(name: str) -> TaskEntry:
    labels = ["First sentence", "Second sentence", "Third sentence", "Fourth sentence", "Fifth sentence"]
    options = {"task": "sp", "folder": "f"}
    return task(reader="discoeval", options=options, kind="sentences", labels=labels, name=name)


def events(reader: str, **options: object) -> TaskEntry:
    labels = ["PRECONDITION", "FALLING_ACTION", "null", "cause", "before/causes", "CAUSE", "HYPERNYM", "ENTAILS"]
    return task(reader=reader, options=options, kind="events", labels=labels, **READER)


TAGGED = parquet_bytes({"tokens": [["HeLa", "cells", "grow"], []], "ner_tags": [[1, 2, 0], []]})
DOCUMENTS = b"D1\thttp://a\tOne\ta b\nD2\thttp://b\t\tc\nD3\thttp://c\tThree\td\n"


def reads_red(path: Path) -> object:
    """A text lies beside its annotation in the corpus."""
    folder = path.parent / "annotation"
    (path.parent / "source").mkdir(exist_ok=True)
    folder.mkdir(exist_ok=True)
    (path.parent / "source" / path.name).write_text(RED_TEXT)
    return reads(events("richer_events", suffix=".red"), path.name)(path.replace(folder / f"{path.name}.red"))


MODELS = b"""toy:
  architecture: t5
  config: {vocab_size: 32, d_model: 8}
  tie_output: true
  origin: {kind: scratch}
  source: a test
"""
NOUNS = (
    b'  1 notice\n00000001 05 n 02 dog 0 domestic_dog 0 001 @ 00000002 n 0000 | a pet; "the dog"  \n'
    b"00000002 05 n 01 animal 0 000 | a thing that lives  \n"
)
ONTOLOGY = (
    b'format-version: 1.2\n\n[Term]\nid: HP:1\nname: A\ndef: "A \\"wide\\" hand." [x:1]\n'
    b'\n[Term]\nid: HP:2\nname: B\n\n[Typedef]\nid: part_of\ndef: "no term" []\n'
)
ASSERTIONS = (
    b"/a/1\t/r/IsA\t/c/en/domestic_dog/n\t/c/en/animal\t{}\n/a/2\t/r/IsA\t/c/de/hund\t/c/en/dog\t{}\n"
    b"/a/3\t/r/ExternalURL\t/c/en/dog\thttp://x/y\t{}\n"
)
STORYLINE_NAME, STORYLINE_PAIRS_NAME = list(STORYLINE_FILES)[:2]
CASES = {
    "event_storyline": Case(
        "xml", STORYLINE,
        reads(events("event_storyline"), STORYLINE_NAME, dict(list(STORYLINE_FILES.items())[1:])),
        (b"<token_anchor t_id='99'/>", b"<ACTION_STATE/>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"<", b">"),
    ),
    "event_storyline_pairs": Case(
        "tab", STORYLINE_PAIRS,
        reads(events("event_storyline"), STORYLINE_PAIRS_NAME,
              {name: content for name, content in STORYLINE_FILES.items() if name != STORYLINE_PAIRS_NAME}),
        TABBED,
    ),
    "maven_ere": Case(
        "jsonl", MAVEN,
        reads(events("maven_ere", validation_share=0), "train.jsonl", {"valid.jsonl": b""}),
        (*JSON, b'"offset": [9, 2]', b'"sent_id": -1', b'"E1"'),
    ),
    "richer_events": Case(
        "xml", RED, reads_red, (b"<span>9,1</span>", b"<span>-3,99999</span>", b"<entity/>", b"<", b">", b"&b;"),
    ),
    "wordnet_events": Case(
        "verb", VERBS,
        reads(events("wordnet_events", data="main", exceptions="verb.exc", smallest=4, largest=8,
                     documents={"train": 3}), "main", {"verb.exc": EXCEPTIONS}),
        (b" @ ", b" 01 ", b" | ", b"zz", b'"', b"\n"),
    ),
    "wordnet_graph": Case(
        "noun", NOUNS, reads(corpus(reader="wordnet_graph", options={"data": ["main"]}, splits=SPLITS)),
        (b" @ ", b" 05 ", b" | ", b"zz", b"_", b"\n"),
    ),
    "wordnet_text": Case(
        "noun", NOUNS,
        reads(corpus(reader="wordnet_text", options={"data": "main", "topics": ["animal"]}, splits=SPLITS)),
        (b" @ ", b" 05 ", b" | ", b"zz", b'"', b"\n"),
    ),
    "wordnet_entities": Case(
        "parquet", SENTENCES,
        reads(task(reader="wordnet_entities", kind="tags", labels=["O", "B-ANIMAL", "I-ANIMAL"], **READER,
                   options={"data": "data.noun", "topics": ["animal"]}), beside={"data.noun": NOUNS}),
    ),
    "ontology_definitions": Case(
        "obo", ONTOLOGY, reads(corpus(reader="ontology_definitions", options={"member": "main"}, splits=SPLITS)),
        (b"[Term]", b"id: ", b'def: "', b"\\", b'"', b"\n"),
    ),
    "column_tags": Case(
        "tsv", b"-DOCSTART- -X- O O\n\nEU NNP I-NP B-X\nruns VB I-VP O\n\nIt PRP I-NP O\n",
        reads(task(reader="column_tags", kind="tags", labels=["O", "B-X", "I-X"], **READER,
                   options={"tagged": {"train": ["main"]}, "column": 3, "columns": 4})),
        (b" ", b"\n", b"\r", b"-DOCSTART-", b"O", b"I-X", b"\x85", b"\xff"),
    ),
    "conllu": Case(
        "conllu", CONLLU,
        reads(task(reader="conllu", kind="tags", labels=["PRON", "VERB", "PUNCT"], **READER,
                   options={"files": {"train": "main"}, "form": "tags"})),
        (b"\t", b"\n", b"\r", b"1-2", b"1.1", b"# newdoc", b"# text = ", b"_", b"\xff"),
    ),
    "conllu_passages": Case(
        "conllu", CONLLU,
        reads(task(reader="conllu", kind="passages", labels=[], **READER,
                   options={"files": {"train": "main"}, "form": "passages"})),
        (b"\t", b"\n", b"\r", b"# newdoc", b"# text = ", b"\xff"),
    ),
    "brown_tagged": Case(
        "txt", b"\tThe/at dog/nn-tl ./.\n\n\tA/at cat's/nn+bez ./.\n",
        reads(task(reader="brown_tagged", kind="tags", labels=["at", "nn", "."], options={"form": "tags"}, **READER),
              beside={GENRES: b"ca01 news\nca02 news\n"}),
        (b"/", b"\t", b"\n", b" ", b"-tl", b"+", b"*", b"fw-", b"\x85"),
    ),
    "brown_passages": Case(
        "txt", b"\tThe/at dog/nn ./.\n\n\tA/at cat/nn ./.\n",
        reads(task(reader="brown_tagged", kind="passages", labels=[], options={"form": "passages"}, **READER),
              beside={GENRES: b"ca01 news\n"}),
        (b"/", b"\t", b"\n", b" ", b'"', b"``", b"\x85"),
    ),
    "penn_trees": Case(
        "mrg", TREES,
        reads(task(reader="penn_trees", kind="passages", labels=[], options={"members": "*"}, **READER)),
        (b"(", b")", b"( (S", b"\n", b"(-NONE- *)", b"-LRB-", b"\\/", b" " * 40, b"\xff"),
    ),
    "extraction_lines": Case(
        "tsv", b"A b c .\tb\tA\tc\nA b c .\tb\tA\tc\td\n",
        reads(task(reader="extraction_lines", kind="triples", labels=[], options={"files": {"train": "main"}},
                   **READER)),
        TABBED,
    ),
    "webnlg": Case(
        "json", as_json({"examples": [{"input": "(A_B | has | \"C\"), (C | of | D)", "target": ["A B has C of D."]}]}),
        reads(task(reader="webnlg", kind="triples", labels=[], options={"member": "main"}, **READER)),
        (*JSON, b" | ", b"), ("),
    ),
    "conll_coreference": Case(
        "conll", CONLL.encode(),
        reads(task(reader="conll_coreference", kind="coreference", labels=[], **READER,
                   options={"files": {"*": "train"}})),
        (b"(0", b"0)", b"|", b"(0)", b"-", b"\t", b"\n", b"\r", b"#end document", b"\x85", b"\xff"),
    ),
    "conll_names": Case(
        "conll", CONLL.encode(),
        reads(task(reader="conll_names", kind="tags", labels=["O", "B-PERSON", "I-PERSON", "B-GPE"], **READER,
                   options={"files": {"train": "main"}})),
        (b"(PERSON*", b"(GPE)", b"*)", b"*", b"\n", b"#end document", b"\xff"),
    ),
    "silver_chains": Case(
        "parquet", PROSE,
        reads(task(reader="silver_chains", kind="coreference", labels=[], **READER,
                   options={"least_count": 1, "least_mentions": 2})),
    ),
    "tacred": Case(
        "json",
        as_json([{"id": "a", "docid": "d", "relation": "per:age", "token": ["Anna", ",", "42"], "subj_start": 0,
                  "subj_end": 0, "obj_start": 2, "obj_end": 2, "subj_type": "PERSON", "obj_type": "NUMBER"}]),
        reads(task(reader="tacred", kind="single", labels=["per:age", "no_relation"], **READER,
                   options={"files": {"train": "main"}})),
        (*JSON, b'"subj_start": 9', b'"obj_end": -7', b'"token": 1'),
    ),
    "squad_answers": Case(
        "json",
        as_json({"data": [{"paragraphs": [{"context": "a b c", "qas": [
            {"id": "1", "question": "q", "answers": [{"text": "b", "answer_start": 2}]}]}]}]}),
        reads(task(reader="squad_answers", kind="span_qa", labels=[], options={"member": "main"}, **READER)),
        (*JSON, b'"answer_start": -9', b'"answer_start": 1e9'),
    ),
    "squad_answers_hub": Case(
        "parquet",
        parquet_bytes({"id": ["1"], "title": ["t"], "context": ["a b"], "question": ["q"],
                       "answers": [{"text": ["b"], "answer_start": [2]}]}),
        reads(task(reader="squad_answers", kind="span_qa", labels=[], options={"files": {"train": "main"}}, **READER)),
    ),
    "webnlg_relations": Case(
        "json", as_json({"examples": [{"input": "(Ann | has | \"Cat\")", "target": ["Ann has a Cat."]}]}),
        reads(task(reader="webnlg_relations", kind="single", labels=["has", "of"], **READER,
                   options={"member": "main", "relations": ["has", "of"]})),
        (*JSON, b" | ", b"), ("),
    ),
    "marked_relations": Case(
        "parquet", RELATIONS,
        reads(task(reader="marked_relations", kind="triples", labels=[], options={"files": {"train": "main"}},
                   **READER)),
    ),
    "tagged_parquet": Case(
        "parquet", TAGGED,
        reads(task(reader="tagged_parquet", kind="tags", labels=["O", "B-cell line", "I-cell line"],
                   options={"files": [{"file": "main", "split": "train"}],
                            "names": ["O", "B-cell line", "I-cell line"]}, **READER)),
    ),
    "trec_collection": Case(
        "tsv", DOCUMENTS,
        reads(task(reader="trec_collection", kind="ranking", labels=[],
                   options={"documents": ["main"], "queries": {"test": "asked"}, "judgements": {"test": "judged"},
                            "passages": 3}, **READER),
              beside={"asked": b"7\twhat is it\n8\tnever judged\n", "judged": b"7 0 D1 3\n7 0 D2 0\n"}),
        (b"\t", b"\n", b"\r", b"D1", b"D9", b"\xff"),
    ),
    "conll_roles": Case(
        "conll", ROLES,
        reads(task(reader="conll_roles", kind="roles", labels=[], options={"members": {"train": "*"}}, **READER)),
        (b" ", b"\n", b"\r", b"(V*)", b"(ARG0*", b"*)", b"*", b"#begin document (x); part 000", b"\xff"),
    ),
    "conceptnet": Case(
        "gz", ASSERTIONS, reads(corpus(reader="conceptnet", options={}, splits=SPLITS)),
        (b"\t", b"\n", b"\r", b"/c/en/", b"/c/de/", b"_", b"/", b"\xff"), gzip.compress,
    ),
    "config": Case("yaml", b"scale: nano\nbuild: [depth]\n", lambda path: load_config(ROOT, {}, [path]), YAML),
    "yaml": Case("yaml", b"a: {b: [1, 2]}\nc: '3'\n", read_yaml, YAML),
    "registry": Case("yaml", registry_sample(), load_registry, (*YAML, b"shards: 999999999999", b": null")),
    "models": Case("yaml", MODELS, load_models, (*YAML, b": null")),
    "mediawiki": Case(
        "bz2", EXPORT,
        reads(corpus(reader="mediawiki", options={"member": "main", "min_paragraph_words": 1, "min_document_words": 1},
                     splits=SPLITS)),
        XML, bz2.compress,
    ),
    "brown": Case(
        "txt", b"\tThe/at dog/nn ./.\n\n\tA/at cat/nn ./.\n",
        reads(corpus(reader="brown", options={}, splits=SPLITS), beside={GENRES: b"ca01 news\nca02 news\n"}),
        (b"/", b"\t", b"\n", b" ", b'"', b"``", b"''", b"\x85"),
    ),
    "brown_genres": Case(
        "txt", b"ca01 news\nca02 fiction\n",
        reads(corpus(reader="brown", options={}, splits=SPLITS), GENRES, {"main": b"\tA/at ./.\n"}),
        (b"../", b"/etc", b" ", b"\n", b"\x00"),
    ),
    "rated_pairs": Case(
        "txt", b"# Two words\tand a\trating\nold\tnew\t1.58\nsmart\tintelligent\t9.2\n",
        reads(task(reader="rated_pairs", kind="similarity", labels=[], options={"pairs": "main"}, **READER)), TABBED,
    ),
    "rated_documents": Case(
        "txt", b"1\t0.5\t0.25\n0\t1\t0.75\n0\t0\t1\n",
        reads(task(reader="rated_pairs", kind="similarity", labels=[], **READER,
                   options={"documents": "texts", "matrix": "main"}), beside={"texts": b"a b\nc d\n\ne f\n"}),
        TABBED,
    ),
    "bigbench_pairs": Case(
        "json", as_json(PAIRS),
        reads(task(reader="bigbench_pairs", options={"members": ["main"]}, labels=["acceptable", "unacceptable"],
                   **READER)),
        (*JSON, b'"input"', b'"target_scores"'),
    ),
    "vitaminc": Case(
        "json", as_json(CLAIMS),
        reads(task(reader="vitaminc", options={"member": "main"}, kind="pair",
                   labels=["entailment", "neutral", "contradiction"], **READER)),
        JSON,
    ),
    "natural_instructions": Case(
        "json", as_json(TASK),
        reads(task(reader="natural_instructions", options={"folder": "f", "train": ["a"], "test": ["b"]},
                   kind="text_to_text", labels=[], **READER)),
        JSON,
    ),
    "bigbench_tasks": Case(
        "json", as_json({"examples": [{"input": "A b. Why?", "target_scores": {"x": 1, "y": 0}}]}),
        reads(task(reader="bigbench_tasks", kind="choice", labels=[], **READER,
                   options={"member": "main", "form": "choice", "pattern": r"(?P<context>.*) (?P<question>.*)"})),
        (*JSON, b'"target_scores"', b'{"x": 1}'),
    ),
    "bigbench_paraphrases": Case(
        "json", as_json({"examples": [{"input": "Sentence: A b.", "target": ["B a."]}] * 2}),
        reads(task(reader="bigbench_tasks", kind="pair", labels=["no", "yes"], **READER,
                   options={"member": "main", "form": "paraphrases"})),
        JSON,
    ),
    "squad_questions": Case(
        "json",
        as_json({"data": [{"paragraphs": [{"context": "a b c", "qas": [
            {"question": "q", "answers": [{"text": "b", "answer_start": 2}]}]}]}]}),
        reads(task(reader="squad_questions", kind="choice", labels=[], options={"member": "main"}, **READER)),
        (*JSON, b'"answer_start": -9', b'"answer_start": 1e9'),
    ),
    "squad_passages": Case(
        "json",
        as_json({"data": [{"paragraphs": [{"context": "a b c", "qas": [{"question": "q"}]}]}]}),
        reads(task(reader="squad_passages", kind="ranking", labels=[], options={"member": "main"}, **READER)),
        JSON,
    ),
    "squad_text": Case(
        "json",
        as_json({"data": [{"paragraphs": [{"context": "a b c"}, {"context": "d"}]}]}),
        reads(corpus(reader="squad_text", options={"member": "main"}, splits=SPLITS)),
        JSON,
    ),
    "hub_columns": Case(
        "parquet", parquet_bytes({"q": ["why", "how"], "c": [["x", "y"], ["z"]], "a": ["1", "0"]}),
        reads(task(reader="hub_columns", kind="choice", labels=[], **READER,
                   options={"files": [{"file": "main", "split": "train"}], "form": "choice", "question": "q",
                            "choices": ["c"], "answer": "a"})),
    ),
    "scrambled_pairs": Case(
        "parquet", parquet_bytes({"document": ["d", "e"], "passage": [0, 0],
                                  "sentences": [["So the words of a text are here."], ["And then all of the rest."]]}),
        reads(task(reader="scrambled_pairs", kind="pair", archives=[], labels=["no", "yes"], splits=SPLITS,
                   options={"min_words": 4, "max_words": 40})),
    ),
    "superni": Case(
        "json", as_json(SUPER),
        reads(task(reader="superni_github", options={}, kind="text_to_text", labels=[], **READER), "main",
              {"splits/default/train_tasks.txt": b"task1", "splits/default/test_tasks.txt": b"task2"}),
        JSON,
    ),
    "discoeval": Case(
        "txt", POSITIONS, reads(discoeval("toy"), "f/train.txt", {"f/valid.txt": b"", "f/test.txt": b""}), TABBED
    ),
    "discoeval_recipe": Case(
        "parquet", SENTENCES,
        reads(task(reader="discoeval_recipe", options={"task": "sp"}, kind="sentences", archives=[],
                   labels=["First sentence", "Second sentence", "Third sentence", "Fourth sentence", "Fifth sentence"],
                   splits=SPLITS)),
    ),
    "ratings": Case(
        "txt", b"1_1\t2.5\tGood film.\n1_2\t-1\tBad film.\n",
        reads(task(options={"member": "main"}, **READER)), TABBED,
    ),
    "r_data": Case(
        "rdb", NOVEL,
        reads(corpus(reader="r_austen", options={"member": "main", "min_document_words": 1}, splits=SPLITS)),
        (STRING, b"\x00\x04\x00\x09\xff\xff\xff\xff", b"\x00\x04\x00\x09\x7f\xff\xff\xff"),
        lambda content: struct.pack(">I", len(content)) + zlib.compress(content),
    ),
    "handbook": Case(
        "html", b'<div class="para">Words <ul><li>x</li></ul> here</div>',
        reads(corpus(reader="handbook", options={"pages": "*", "min_document_words": 1}, splits=SPLITS)),
        (b"<div>", b"</div>", b"<", b"&#x110000;", b"<![CDATA[", b"<!--", b"<?"),
    ),
    "text_lines": Case("txt", b"one line\nanother\n", reads(corpus(options={"members": ["main"]}, splits=SPLITS))),
    "c4": Case(
        "json.gz", as_json({"text": "words", "url": "u"}) + b"\n",
        reads(corpus(reader="c4_hub", options={}, splits=SPLITS), "en/c4-validation.00000-of-00008.json.gz"),
        (*JSON, b"\n"), gzip.compress,
    ),
    "glue_parquet": Case(
        "parquet", GLUE,
        reads(task(reader="glue_hub", options={"files": [{"file": "main", "split": "train"}], "texts": ["sentence"],
                                               "label_names": ["negative", "positive"]}, **READER)),
    ),
    "triple_lines": Case(
        "jsonl", b'{"query": "a", "positive": "b", "negative": "c"}\n' * 2,
        reads(task(reader="triple_lines", kind="choice", labels=[], role="x", options={"file": "main"})),
        (*JSON, b"\n", b'"query"'),
    ),
    "mteb_lines": Case(
        "jsonl", b'{"sentences": ["a", "b"], "labels": ["x", "y"]}\n' * 2,
        reads(task(reader="mteb_lines", kind="single", labels=["x", "y"], role="x",
                   options={"files": [{"file": "main", "split": "test"}], "texts": ["sentences"], "label": "labels"})),
        (*JSON, b"\n", b'"labels"'),
    ),
    "mteb_candidates": Case(
        "jsonl.gz", b'{"query": "q", "positive": ["a"], "negative": ["b"]}\n' * 2,
        reads(task(reader="mteb_lines", kind="ranking", labels=[], role="x",
                   options={"files": [{"file": "main.gz", "split": "test"}],
                            "texts": ["query", "positive", "negative"]}), "main.gz"),
        (*JSON, b"\n", b'"positive"'), gzip.compress,
    ),
    "simcse_triples": Case(
        "csv", b"sent0,sent1,hard_neg\na,b,c\n\"d, e\",f,g\n",
        reads(task(reader="simcse_triples", kind="choice", labels=[], role="x", options={"file": "main"})),
        (b",", b"\n", b"\""),
    ),
    "examples": Case("parquet", SINGLE, lambda path: load_examples(path, ["train"], {})),
    "metadata": Case(
        "json", ABOUT[b"reprlab"], lambda path: (load_examples(path, ["train"], {}), read_rows(path, "single")), JSON,
        lambda about: parquet_bytes(pyarrow.parquet.read_table(io.BytesIO(SINGLE)), {b"reprlab": about}), outer=False,
    ),
    "completions": Case("parquet", COMPLETIONS, read_completions),
    "token_counts": Case("safetensors", COUNTS, load_counts, JSON),
    "rows": Case("parquet", SINGLE, lambda path: read_rows(path, "single")),
    "tokens": Case("parquet", TOKENS, lambda path: TokenStore.open(path, "train")),
    "mapped_tokens": Case("parquet", TOKENS, lambda path: TokenStore.open(path, "train", in_memory=0)),
    "batches": Case(
        "parquet", SENTENCES,
        lambda path: [data_metadata(path), [batch.to_pydict() for batch in read_batches(path, ["sentences"], 3)]],
    ),
    "tsv": Case("tsv", b"a\tb\n1\t2\n", read_tsv, TABBED),
    "json": Case("json", as_json({"a": [1, None]}), read_json, JSON),
}  # fmt: skip
