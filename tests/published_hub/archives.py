"""Files of the published data sets whose rows hang together or that have formats of their own, and those of places
other than the hub."""

from __future__ import annotations

import fnmatch
import functools
import io
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import soundfile
import yaml
from reprlab.data.splits import position
from reprlab.registry.dataset_entries import ArchiveEntry

from tests.published_hub.columns import ROWS, Column, file_of, parquet
from tests.published_hub.texts import NAMES, WORDS, passage, sentence

TABLE = Path(__file__).with_name("data.yaml")
PASSAGES = 60
_QUERIES = 30
_JUDGED = 10

NUMBERS: dict[tuple[str, str], Callable[[int], int]] = {
    ("beir_hub", "passages"): lambda _: PASSAGES,
    ("beir_hub", "lacking"): lambda published: min(published, 1),
    ("trec_collection", "passages"): lambda _: PASSAGES,
    ("simcse_triples", "triples"): lambda _: ROWS,
}
"""Numbers of published rows that the registry knows, by reader and option, and those of what is served."""


@functools.cache
def data_table() -> dict[str, dict[str, Any]]:
    """The table of the data sets of the hub."""
    return yaml.safe_load(TABLE.read_text(encoding="utf-8"))


def repository_file(repository: str, name: str) -> bytes:
    """A file of a data set of the hub.

    Raises:
        KeyError: the table has no columns for it.
    """
    about = data_table()[repository]
    if make := _TOGETHER.get(about.get("form", "")):
        return make(repository, name, about)
    return file_of(name, _columns(about, name), f"{repository}/{name}", about.get("rows", ROWS))


def _columns(about: dict[str, Any], name: str) -> dict[str, Column]:
    for pattern, columns in about["files"].items():
        if fnmatch.fnmatchcase(name, pattern):
            return dict(columns)
    raise KeyError(name)


# Data sets of the hub whose rows hang together.


def _beir(repository: str, name: str, about: dict[str, Any]) -> bytes:
    """A corpus, queries, and judgements of both: two passages a query, one of them relevant."""
    wide = {"string": pyarrow.string(), "int64": pyarrow.int64()}
    types = {"passage": wide[about["passage_type"]], "query": wide[about["query_type"]]}
    passages = [about["passage_id"].replace("N", str(n)) for n in range(PASSAGES)]
    queries = [about["query_id"].replace("N", str(n)) for n in range(_QUERIES)]
    if about.get("query_is_passage"):
        queries = passages[:_QUERIES]
    rng = random.Random(f"{repository}/{name}")
    if name.startswith(("corpus/", "queries/")):
        ids = passages if name.startswith("corpus/") else queries
        titled = name.startswith("corpus/") and about.get("titles", True)
        text = passage if name.startswith("corpus/") else sentence
        return parquet(pyarrow.table({
            "_id": ids, "title": [" ".join(rng.choices(WORDS, k=3)) if titled else "" for _ in ids],
            "text": [text(rng) for _ in ids],
        }))  # fmt: skip
    start = {"train": 0, "validation": _JUDGED, "test": 2 * _JUDGED}[name.split("/")[1]]
    rows = [(queries[start + n], passages[(7 * n + k) % PASSAGES], 1 - k) for n in range(_JUDGED) for k in range(2)]
    if about.get("lacking"):
        rows.append((queries[start], about["passage_id"].replace("N", "9999"), 1))
    whole = {name: int if kind == pyarrow.int64() else str for name, kind in types.items()}
    return parquet(pyarrow.table({
        "query-id": pyarrow.array([whole["query"](query) for query, _, _ in rows], types["query"]),
        "corpus-id": pyarrow.array([whole["passage"](one) for _, one, _ in rows], types["passage"]),
        "score": pyarrow.array([score for _, _, score in rows], pyarrow.int64()),
    }))  # fmt: skip


def _squad(repository: str, name: str, about: dict[str, Any]) -> bytes:
    """Every third question has no answer."""
    rng = random.Random(f"{repository}/{name}")
    rows = []
    for number in range(ROWS):
        context = passage(rng)
        start = context.index(" ") + 1
        text = context[start : context.index(" ", start)]
        found = number % 3 != 2
        answers = {"text": [text] if found else [], "answer_start": [start] if found else []}
        rows.append({
            "id": f"{name}-{number}", "title": f"Title_{number // 5}", "context": context, "question": sentence(rng),
            "answers": answers,
        })  # fmt: skip
    answer = pyarrow.struct(
        [("text", pyarrow.list_(pyarrow.string())), ("answer_start", pyarrow.list_(pyarrow.int32()))]
    )
    texts = [(one, pyarrow.string()) for one in ("id", "title", "context", "question")]
    return parquet(pyarrow.Table.from_pylist(rows, schema=pyarrow.schema([*texts, ("answers", answer)])))


def _tagged(repository: str, name: str, about: dict[str, Any]) -> bytes:
    """Words with the numbers of their tags in IOB2."""
    rng = random.Random(f"{repository}/{name}")
    kinds = (about["tags"] - 1) // 2
    rows = []
    for number in range(ROWS):
        words = [*sentence(rng)[:-1].split(), "."]
        tags = [0] * len(words)
        first = 1 + 2 * (number % kinds)
        tags[1], tags[2] = first, first + 1
        rows.append({"id": str(number), "tokens": words, "ner_tags": tags})
    tag = pyarrow.list_(pyarrow.int64())
    schema = pyarrow.schema([("id", pyarrow.string()), ("tokens", pyarrow.list_(pyarrow.string())), ("ner_tags", tag)])
    return parquet(pyarrow.Table.from_pylist(rows, schema=schema))


def _relations(repository: str, name: str, about: dict[str, Any]) -> bytes:
    """Sentences with entities and relations of them; the published columns of DFKI's CoNLL04."""
    rng = random.Random(f"{repository}/{name}")
    kinds = ["Kill", "Live_In", "Located_In", "OrgBased_In", "Work_For"]
    place = pyarrow.int32()
    entity = pyarrow.struct([("type", pyarrow.string()), ("start", place), ("end", place)])
    relation = pyarrow.struct([("type", pyarrow.string()), ("head", place), ("tail", place)])
    rows = []
    for number in range(ROWS):
        words = [rng.choice(NAMES), *sentence(rng)[:-1].lower().split(), rng.choice(NAMES), "."]
        entities = [
            {"type": "Peop", "start": 0, "end": 1}, {"type": "Loc", "start": len(words) - 2, "end": len(words) - 1},
        ]  # fmt: skip
        relations = [{"type": kinds[number % len(kinds)], "head": 0, "tail": 1}]
        rows.append({"entities": entities, "tokens": words, "relations": relations, "orig_id": number})
    schema = pyarrow.schema([
        ("entities", pyarrow.list_(entity)), ("tokens", pyarrow.list_(pyarrow.string())),
        ("relations", pyarrow.list_(relation)), ("orig_id", place),
    ])  # fmt: skip
    return parquet(pyarrow.Table.from_pylist(rows, schema=schema))


def sound(rng: random.Random, kind: str) -> bytes:
    """A second of a tone with noise, at 16 kHz."""
    time = np.arange(16_000) / 16_000
    noise = np.random.default_rng(rng.randrange(2**32)).normal(size=len(time))
    written = io.BytesIO()
    soundfile.write(written, 0.3 * np.sin(2 * np.pi * rng.uniform(120, 600) * time) + 0.02 * noise, 16_000, format=kind)
    return written.getvalue()


def _speech(repository: str, name: str, about: dict[str, Any]) -> bytes:
    """LibriSpeech: recordings in FLAC, what is said in capitals."""
    rng = random.Random(f"{repository}/{name}")
    kept = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    rows = [
        {
            "file": f"{name}-{n}.flac", "audio": {"bytes": sound(rng, "FLAC"), "path": f"{n}.flac"},
            "text": sentence(rng)[:-1].upper(), "speaker_id": 100 + n % 4, "chapter_id": 7, "id": f"100-7-{n:04d}",
        }
        for n in range(4)
    ]  # fmt: skip
    schema = pyarrow.schema([
        ("file", pyarrow.string()), ("audio", kept), ("text", pyarrow.string()), ("speaker_id", pyarrow.int64()),
        ("chapter_id", pyarrow.int64()), ("id", pyarrow.string()),
    ])  # fmt: skip
    return parquet(pyarrow.Table.from_pylist(rows, schema=schema))


_TOGETHER: dict[str, Callable[[str, str, dict[str, Any]], bytes]] = {
    "beir": _beir, "squad": _squad, "tagged": _tagged, "relations": _relations, "speech": _speech,
}  # fmt: skip


# Archives of other places: from the entry to the files that take the place of its own.

Files = dict[str, bytes]


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _each(entry: ArchiveEntry, make: Callable[[str, random.Random], bytes]) -> Files:
    return {file.file: make(file.file, random.Random(f"{entry.name}/{file.file}")) for file in entry.files}


def _discoeval(entry: ArchiveEntry) -> Files:
    """Label and sentences between tabs: five of sentence position, six of discourse coherence."""

    def make(name: str, rng: random.Random) -> bytes:
        count, labels = (5, 5) if "/SP/" in name else (6, 2)
        rows = ([str(n % labels), *(sentence(rng) for _ in range(count))] for n in range(ROWS))
        return _lines("\t".join(row) for row in rows)

    return _each(entry, make)


def _super_natural_instructions(entry: ArchiveEntry) -> Files:
    """A JSON file a task, and the lists of the default split."""
    files: Files = {}
    names = {"train": ["task001_toy", "task002_toy"], "test": ["task003_toy"]}
    for split, tasks in names.items():
        files[f"splits/default/{split}_tasks.txt"] = _lines(tasks)
        for task in tasks:
            rng = random.Random(task)
            examples = [{"input": sentence(rng), "output": "cat", "explanation": "It says so."} for _ in range(3)]
            instances = [
                {"id": f"{task}-{n}", "input": sentence(rng), "output": [rng.choice(WORDS[2:])]} for n in range(20)
            ]
            # One instance in a hundred is set aside for validation by the hash of its id; the first is one of those.
            tried = map(f"{task}-{{}}".format, range(10_000))
            instances[0]["id"] = next(name for name in tried if position(0, name) < 0.01)
            content = {
                "Contributors": ["A"], "Source": ["toy"], "URL": [""], "Categories": ["Question Answering"],
                "Reasoning": [], "Definition": ["Name the animal of the text."], "Input_language": ["English"],
                "Output_language": ["English"], "Instruction_language": ["English"], "Domains": ["Wikipedia"],
                "Positive Examples": examples, "Negative Examples": [], "Instances": instances,
                "Instance License": ["Unknown"],
            }  # fmt: skip
            files[f"tasks/{task}.json"] = json.dumps(content, indent=4).encode()
    return files


ARCHIVES: dict[str, Callable[[ArchiveEntry], Files]] = {
    **dict.fromkeys(
        [
            "discoeval_sp_arxiv", "discoeval_sp_arxiv_train", "discoeval_sp_wiki", "discoeval_sp_wiki_train",
            "discoeval_sp_rocstory", "discoeval_dc_chat", "discoeval_dc_wiki", "discoeval_dc_wiki_train",
        ],
        _discoeval,
    ),
    "super_natural_instructions": _super_natural_instructions,
}  # fmt: skip
"""By the names of the archives in `datasets.yaml`."""


def punkt(folder: Path) -> None:
    """NLTK's `punkt_tab` for English with a handful of entries, below a folder of NLTK's data."""
    target = folder / "tokenizers/punkt_tab/english"
    target.mkdir(parents=True, exist_ok=True)
    (target / "abbrev_types.txt").write_text("mr\ndr\ne.g\n")
    (target / "collocations.tab").write_text("##number##\tth\n")
    (target / "sent_starters.txt").write_text("the\na\n")
    (target / "ortho_context.tab").write_text("the\t46\nboat\t32\n")
