"""Files of the data sets of the hub, by the table `data.yaml`: rows of columns, or rows that hang together."""

from __future__ import annotations

import fnmatch
import functools
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import soundfile
import yaml

from tests.published_hub.columns import ROWS, Column, file_of, parquet, told
from tests.published_hub.texts import NAMES, WORDS, passage, sentence

TABLE = Path(__file__).with_name("data.yaml")
PASSAGES = 60
QUERIES = 30
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
    queries = [about["query_id"].replace("N", str(n)) for n in range(QUERIES)]
    if about.get("query_is_passage"):
        queries = passages[:QUERIES]
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
    kinds = (len(about["tags"]) - 1) // 2
    rows = []
    for number in range(ROWS):
        words = [*sentence(rng)[:-1].split(), "."]
        tags = [0] * len(words)
        first = 1 + 2 * (number % kinds)
        tags[1], tags[2] = first, first + 1
        rows.append({"id": str(number), "tokens": words, "ner_tags": tags})
    tag = pyarrow.list_(pyarrow.int64())
    schema = pyarrow.schema([("id", pyarrow.string()), ("tokens", pyarrow.list_(pyarrow.string())), ("ner_tags", tag)])
    return parquet(told(pyarrow.Table.from_pylist(rows, schema=schema), {"ner_tags": about["tags"]}))


def _relations(repository: str, name: str, about: dict[str, Any]) -> bytes:
    """Sentences with entities and relations of them; the published columns of DFKI's CoNLL04."""
    rng = random.Random(f"{repository}/{name}")
    kinds = ["Kill", "Live_In", "Located_In", "OrgBased_In", "Work_For"]
    place = pyarrow.int64()
    entity = pyarrow.struct([("end", place), ("start", place), ("type", pyarrow.string())])
    relation = pyarrow.struct([("head", place), ("tail", place), ("type", pyarrow.string())])
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
